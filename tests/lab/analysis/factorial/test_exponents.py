# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Exponents: powers are found, noise is bracketed, bends are seen."""

import numpy as np
import polars as pl
import pytest

from heapwright.analysis.factorial.exponents import can_scale, exponents
from heapwright.analysis.factorial.grid import grid
from heapwright.analysis.factorial.model import Model, model
from heapwright.analysis.factorial.observed import Factor, observe
from heapwright.artefacts.study_analysis.document import Exponent, Settings

WORK = (1.0, 10.0, 100.0, 1000.0)


def grown(power: float, blocks: int, error: float = 0.0, bend: float = 0.0, seed: int = 1) -> Model:
    """Two allocators, the second of which grows more steeply by 0.5, at four amounts of work."""
    draws = np.random.default_rng(seed)
    rows = []
    for block in range(1, blocks + 1):
        for allocator in (0, 1):
            for number, work in enumerate(WORK):
                x = np.log(work)
                log = (power + 0.5 * allocator) * x + bend * x**2 + draws.normal(0, error or 1e-30)
                rows.append(
                    {
                        "work": f"{work:g}",
                        "allocator": f"x{allocator}",
                        "treatment": f"{allocator}{number}",
                        "block": block,
                        "y": float(np.exp(log + 0.1 * block)),
                    }
                )
    frame = pl.DataFrame(rows).with_columns(outcome=pl.lit("ok"), warmup=pl.lit(value=False))
    factors = (
        Factor("work", tuple(f"{each:g}" for each in WORK), WORK),
        Factor("allocator", ("x0", "x1")),
    )
    return model(observe(frame, factors, "y"))


def found_in(this: Model) -> list[Exponent]:
    box = grid(this, 0)
    assert box is not None
    return exponents(this, box, 1, Settings(resamples=499))


def test_a_power_is_found_exactly() -> None:
    overall, first, second = found_in(grown(1.25, 4))
    assert (first.allocator, second.allocator, overall.allocator) == ("x0", "x1", None)
    assert first.exponent == pytest.approx(1.25)
    assert second.exponent == pytest.approx(1.75)
    assert overall.exponent == pytest.approx(1.5)
    assert first.explained == pytest.approx(1)
    assert first.low == pytest.approx(first.high)
    assert first.levels == ("1", "10", "100", "1000")
    assert (overall.cells, first.cells, first.blocks) == (2, 1, 4)


@pytest.mark.parametrize("blocks", [4, 12])
def test_intervals_hold_as_often_as_they_say(blocks: int) -> None:
    held = 0
    for seed in range(100):
        _, first, _ = found_in(grown(0.9, blocks, error=0.3, seed=seed))
        assert first.low is not None
        assert first.high is not None
        held += first.low <= 0.9 <= first.high
    assert 88 <= held <= 100


def test_a_bend_is_seen() -> None:
    straight = found_in(grown(1.0, 8, error=0.05))[1]
    bent = found_in(grown(1.0, 8, error=0.05, bend=0.05))[1]
    assert straight.bend_p is not None
    assert bent.bend_p is not None
    assert straight.bend_p > 0.01
    assert bent.bend_p < 1e-4


def test_one_block_has_no_interval() -> None:
    overall = found_in(grown(1.0, 1, error=0.1))[0]
    assert (overall.low, overall.high, overall.bend_p) == (None, None, None)
    assert overall.exponent == pytest.approx(1.25, abs=0.3)


def test_only_positive_quantities_grow() -> None:
    this = grown(1.0, 2)
    assert can_scale(this, 0)
    assert not can_scale(this, 1)
    frame = pl.DataFrame(
        {
            "work": ["0", "1", "0", "1"],
            "treatment": ["0", "1", "0", "1"],
            "block": [1, 1, 2, 2],
            "y": [1.0, 2.0, 1.1, 2.1],
            "outcome": ["ok"] * 4,
            "warmup": [False] * 4,
        }
    )
    assert not can_scale(model(observe(frame, (Factor("work", ("0", "1"), (0, 1)),), "y")), 0)


def test_a_line_through_two_levels_explains_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{__name__}.WORK", WORK[:2])
    found = found_in(grown(1.25, 4))
    assert found[0].levels == ("1", "10")
    assert {each.explained for each in found} == {None}
