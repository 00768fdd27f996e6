# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Fractions, sizes and processors as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer import BadParameter

from heapwright.cli.values import (
    format_cpus,
    parse_allowance,
    parse_count,
    parse_cpus,
    parse_fraction,
    parse_margin,
    parse_size,
)


@pytest.mark.parametrize(
    ("text", "value"), [("3%", 0.03), ("3 %", 0.03), ("0.03", 0.03), (".5", 0.5), ("99.5%", 0.995)]
)
def test_a_fraction(text: str, value: float) -> None:
    assert parse_fraction(text) == pytest.approx(value)


@pytest.mark.parametrize(
    "text", ["", "3", "0", "0%", "100%", "1.0", "-3%", "3%%", "x", "nan", "1e-2"]
)
def test_no_fraction(text: str) -> None:
    with pytest.raises(BadParameter):
        parse_fraction(text)


def test_a_margin_may_be_nothing() -> None:
    assert parse_margin("0") == parse_margin("0%") == 0
    assert parse_margin("2%") == pytest.approx(0.02)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("512M", 512 * 2**20),
        ("512 MiB", 512 * 2**20),
        ("512mb", 512 * 2**20),
        ("1.5G", 3 * 2**29),
        ("2k", 2048),
        ("3B", 3),
    ],
)
def test_a_size(text: str, value: int) -> None:
    assert parse_size(text) == value


def test_an_allowance_may_be_nothing() -> None:
    assert (parse_allowance("0"), parse_allowance("2k")) == (0, 2048)


@pytest.mark.parametrize(
    ("text", "value"), [("0", 0), ("12", 12), ("1_000", 1000), ("1e6", 10**6), ("25E+3", 25000)]
)
def test_a_count(text: str, value: int) -> None:
    assert parse_count(text) == value


@pytest.mark.parametrize("text", ["", "-1", "1.5", "e6", "1e-2", "1e99", "2M", "9" * 31])
def test_no_count(text: str) -> None:
    with pytest.raises(BadParameter):
        parse_count(text)


@pytest.mark.parametrize(
    "text", ["", "M", "-1", "0", "0.2", "1X", "1 2M", "1MM", "9" * 20, "9" * 400]
)
def test_no_size(text: str) -> None:
    with pytest.raises(BadParameter):
        parse_size(text)


def test_processors() -> None:
    assert parse_cpus("0-2, 5,1", {0, 1, 2, 3, 5}) == (0, 1, 2, 5)


@pytest.mark.parametrize("text", ["", "a", "1-", "-1", "3-1", "0,,1", "7", "0-99999", "0-999999"])
def test_no_processors(text: str) -> None:
    with pytest.raises(BadParameter):
        parse_cpus(text, {0, 1, 2, 3})


def test_a_missing_processor_is_named_with_those_there_are() -> None:
    with pytest.raises(BadParameter, match="processor 9 is not available; there are 0-2,5"):
        parse_cpus("1,9", {0, 1, 2, 5})


@given(st.sets(st.integers(0, 500), min_size=1))
def test_formatted_text_is_read_again(cpus: set[int]) -> None:
    assert set(parse_cpus(format_cpus(cpus), cpus)) == cpus
