# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The number of blocks that would decide an open question follows the root law."""

import math

import pytest

from heapwright.base.blocks_needed import blocks_needed, blocks_text, ratio_blocks_needed


def test_half_the_distance_needs_four_times_the_blocks() -> None:
    assert blocks_needed(5, 1.0, (0.96, 1.04), [0.98]) == pytest.approx(20)


def test_the_nearest_limit_counts_and_one_outside_does_not() -> None:
    assert blocks_needed(5, 1.0, (0.96, 1.04), [0.98, 1.01, 1.2]) == pytest.approx(80)
    assert blocks_needed(5, 1.0, (0.96, 1.04), [1.2]) == 0


def test_an_estimate_at_the_limit_never_decides() -> None:
    assert blocks_needed(5, 1.0, (0.9, 1.1), [1.0]) == math.inf


def test_a_ratio_is_judged_by_its_logarithm() -> None:
    ends = (math.exp(-0.2), math.exp(0.2))
    assert ratio_blocks_needed(3, 1.0, ends, [math.exp(0.1)]) == pytest.approx(12)


@pytest.mark.parametrize(
    ("needed", "text"),
    [(19.2, "about 20 blocks"), (500, "about 500 blocks"), (math.inf, "more than 500 blocks")],
)
def test_the_number_in_words(needed: float, text: str) -> None:
    assert blocks_text(needed) == text
