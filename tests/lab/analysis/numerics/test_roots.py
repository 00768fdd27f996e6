# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The root is found within the tolerance and in few steps, also where a parabola would mislead."""

import math
from collections.abc import Callable

import pytest

from heapwright.analysis.numerics.roots import root

FUNCTIONS: dict[str, tuple[Callable[[float], float], float, float, float]] = {
    "line": (lambda x: x - 0.3, -1, 4, 0.3),
    "falling": (lambda x: math.exp(-x) - 0.5, 0, 20, math.log(2)),
    "flat": (lambda x: (x - 1) ** 9, -3, 4.5, 1),
    "step": (lambda x: -1.0 if x < 0.7 else 2.0, 0, 1, 0.7),
    "end": (lambda x: x, 0, 1, 0),
    "pole": (lambda x: 1 / (x - 5) + 1, -20, 4.99, 4),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_root_is_within_the_tolerance(name: str) -> None:
    function, low, high, expected = FUNCTIONS[name]
    asked = []

    def counted(x: float) -> float:
        asked.append(x)
        assert low <= x <= high
        return function(x)

    assert root(counted, low, high, tolerance=1e-9) == pytest.approx(expected, abs=1e-9)
    assert len(asked) < 60


def test_ends_of_one_sign_have_no_root() -> None:
    with pytest.raises(ValueError, match="the same sign at 1 and at 2"):
        root(lambda x: x, 1, 2, tolerance=1e-3)
