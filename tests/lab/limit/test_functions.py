# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Names of functions as people write them."""

import pytest

from heapwright.limit.functions import hint_of, matcher

FRAME = "audio::Filter<float>::process(float*, int) (filter.cpp:12)"


@pytest.mark.parametrize(
    "name",
    [
        "process",
        "Filter::process",
        "audio::Filter::process",
        "proc*",
        "audio::*",
        "process(float*, int)",
        "audio::Filter<float>::process(float*, int)",
    ],
)
def test_a_name_matches_in_any_scope_and_with_any_parameters(name: str) -> None:
    if name == "process(float*, int)":
        assert matcher(name)("process(float*, int) (a.cpp:1)")
    else:
        assert matcher(name)(FRAME)


@pytest.mark.parametrize("name", ["proc", "rocess", "Filter", "process(int)", "cess*", "audio"])
def test_a_part_of_a_name_does_not_match(name: str) -> None:
    assert not matcher(name)(FRAME)


def test_c_functions_and_results_before_a_name() -> None:
    assert matcher("main")("main (a.c:3)")
    assert matcher("main")("main")
    assert not matcher("main")("domain (a.c:3)")
    assert matcher("grow")("void grow<int>(std::vector<int>&) (a.cpp:9)")
    assert matcher("operator()(int) const")("App::operator()(int) const")


def test_characters_with_a_meaning_in_patterns_are_literal() -> None:
    assert matcher("f[abi:cxx11]")("f[abi:cxx11] (a.cpp:1)")
    assert not matcher("f.g")("fxg (a.c:1)")


@pytest.mark.parametrize(
    ("name", "part"),
    [("audio::Filter::process", "process"), ("f(unsigned long)", "f"), ("*::run_*", "run_")],
)
def test_every_mangled_name_contains_the_hint(name: str, part: str) -> None:
    assert hint_of(name) == part
