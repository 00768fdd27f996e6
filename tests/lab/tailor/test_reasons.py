# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The words that a caption has for a parameter."""

from dataclasses import replace

import pytest

from heapwright.tailor import reasons
from heapwright.tailor.grammar import KIB, NEVER

from .builders import figures


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0, "0 %"),
        (0.00005, "less than 0.01 %"),
        (0.0312, "3.12 %"),
        (0.99999, "100 %"),
        (1, "100 %"),
    ],
)
def test_a_share_has_no_exponent(share: float, text: str) -> None:
    assert reasons.percent(share) == text


def test_the_threads_and_the_moment_are_those_of_the_program() -> None:
    alone = reasons.common(figures(), 8 * KIB)
    assert alone["threads"].startswith("one thread allocates")
    assert alone["large"].endswith("of them are live at the peak")
    several = reasons.common(replace(figures(4), remote=45_000, inputs=2), 8 * KIB)
    assert several["threads"].startswith("4 threads allocate, and 50 % of the objects")
    assert several["large"].endswith("at the peaks, over all inputs")


def test_one_step_states_the_return_of_memory_and_the_pages() -> None:
    plain, huge = (reasons.purge(figures(), NEVER, huge=each) for each in (False, True))
    fall = "The live memory falls to half of its peak and rises to nine tenths again 3 times"
    assert plain == f"never. {fall}"
    assert huge == f"{plain}. Huge pages: {reasons.huge_pages(figures())}"


def test_a_list_is_compared_with_the_deepest() -> None:
    text = reasons.depth(figures(), 8)
    assert text.startswith("a list of 8 freed objects serves 6.41 % of the requests")
    assert text.endswith("one of 1024 serves 25.7 %")
