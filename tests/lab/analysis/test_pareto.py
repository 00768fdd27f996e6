# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The Pareto front: nothing on it is dominated, everything off it is."""

from hypothesis import given
from hypothesis import strategies as st

from heapwright.analysis.pareto import pareto_front

POINTS = st.dictionaries(
    st.integers(0, 20).map(lambda n: (f"t{n}", "")),
    st.tuples(st.sampled_from([0.5, 0.9, 1.0, 1.1]), st.sampled_from([0.5, 0.9, 1.0, 1.1])),
)


def test_fastest_first() -> None:
    points = {("fat", ""): (0.9, 1.5), ("base", ""): (1.0, 1.0), ("lean", ""): (1.2, 0.5)}
    dominated = {("bad", ""): (1.2, 1.0)}
    assert pareto_front({**dominated, **points}) == tuple(points)


def test_equal_points_stand_together() -> None:
    assert pareto_front({("b", ""): (1.0, 1.0), ("a", ""): (1.0, 1.0)}) == (("a", ""), ("b", ""))


def test_better_in_one_and_equal_in_the_other_dominates() -> None:
    assert pareto_front({("a", ""): (1.0, 1.0), ("b", ""): (1.0, 0.9)}) == (("b", ""),)


def test_nothing_has_no_front() -> None:
    assert pareto_front({}) == ()


@given(POINTS)
def test_the_front_is_what_nothing_dominates(
    points: dict[tuple[str, str], tuple[float, float]],
) -> None:
    front = set(pareto_front(points))
    for key, (time, memory) in points.items():
        beaten = any(
            t <= time and m <= memory and (t < time or m < memory) for t, m in points.values()
        )
        assert (key in front) != beaten
