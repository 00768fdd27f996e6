# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The published recipe, sentence by sentence."""

from pathlib import Path

import pytest

from heapwright.artefacts.profile.document import Profile
from heapwright.profile.run import profile_trace
from heapwright.synth import costa, program
from heapwright.synth.plan import LifetimeKind, Plan


@pytest.fixture(scope="module")
def recipe(model: Profile) -> Plan:
    return costa.plan(model, factor=1.0, threads=None, seed=5)


def lifetimes(plan: Plan) -> dict[LifetimeKind, int]:
    found = dict.fromkeys(LifetimeKind, 0)
    for phase in plan.phases:
        for _, lifetime, count in phase.cells:
            found[plan.lifetimes[lifetime].kind] += count
    return found


def test_the_ten_commonest_sizes_have_their_shares_and_the_rest_is_even(
    model: Profile, recipe: Plan
) -> None:
    (band,) = recipe.bands
    top = {each.size: each.share for each in model.sizes.top[:10]}
    weights = {each.low: each.weight for each in band.sizes}
    assert {size: weights[size] for size in top} == pytest.approx(top)
    rest = {weight for size, weight in weights.items() if size not in top}
    assert len(rest) == 1
    assert sum(weights.values()) == pytest.approx(1)


def test_short_lived_go_at_once_and_long_lived_at_the_end(model: Profile, recipe: Plan) -> None:
    counts = lifetimes(recipe)
    long = round(model.retention.long * model.totals.allocations)
    assert counts[LifetimeKind.END] == long
    assert counts[LifetimeKind.OPERATIONS] == model.totals.allocations - long
    assert counts[LifetimeKind.NEVER] == 0


@pytest.mark.parametrize(("kind", "phases"), [("peak", 2), ("growing", 1)])
def test_the_pattern_says_when_the_long_lived_are_made(
    model: Profile, kind: str, phases: int
) -> None:
    pattern = model.pattern.model_copy(update={"kind": kind})
    plan = costa.plan(model.model_copy(update={"pattern": pattern}), factor=1.0, threads=4, seed=1)
    assert len(plan.phases) == phases
    first = {plan.lifetimes[lifetime].kind for _, lifetime, _ in plan.phases[0].cells}
    assert (LifetimeKind.OPERATIONS in first) == (kind == "growing")
    assert len(plan.threads) == 4


def test_the_trace_frees_everything_and_hands_nothing_over(
    recipe: Plan, model: Profile, tmp_path: Path
) -> None:
    program.draw(recipe, tmp_path / "trace")
    found = profile_trace(tmp_path / "trace")
    assert found.totals.allocations == model.totals.allocations
    assert found.totals.never_freed == 0
    assert found.cross_thread_frees.count == 0
    assert found.routines.malloc.share == pytest.approx(model.routines.malloc.share, abs=0.02)
    assert found.sizes.top10_share == pytest.approx(model.sizes.top10_share, abs=0.02)
