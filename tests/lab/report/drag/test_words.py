# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Figures of drag in words."""

import pytest

from heapwright.report.drag.words import chain_of, increase, place_of, ratio, short


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "-"), (1.0, "1.000"), (1.0484, "1.048"), (3.338, "3.34"), (500.5, "500.5")],
)
def test_ratios(value: float | None, text: str) -> None:
    assert ratio(value) == text


def test_increases() -> None:
    assert increase(None) == "-"
    assert increase(1.0) == "+0.0 %"
    assert increase(1.0462) == "+4.6 %"
    assert increase(1000.0) == "+99,900.0 %"


def test_the_place_is_past_what_passes_requests_on() -> None:
    frames = ("malloc", "heapwright_region_refill (region.cpp:3)", "parse (p.c:1)", "main (p.c:9)")
    assert place_of(frames) == "parse (p.c:1)"
    assert chain_of(frames) == "parse (p.c:1) ← main (p.c:9)"
    assert place_of(("apr_palloc", "ap_run")) == "ap_run"
    assert place_of(("malloc", "__GI___strdup (strdup.c:42)", "keep")) == "keep"
    assert place_of(("malloc", "xmalloc")) == "malloc"
    assert place_of(()) == "unknown"


def test_long_names_lose_what_is_in_their_brackets() -> None:
    assert short("std::vector<int>::push_back") == "std::vector<int>::push_back"
    long = f"std::map<std::string, std::vector<{'int' * 20}>>::at (map.h:1)"
    assert short(long) == "std::map<…>::at (map.h:1)"
    assert short("x" * 100) == "x" * 100
    assert short("a < b" + "c" * 100) == "a < b" + "c" * 100
