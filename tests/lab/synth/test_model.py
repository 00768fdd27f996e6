# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The default model: a load drawn from a profile has that profile, near enough."""

from pathlib import Path

import numpy as np
import pytest

from heapwright.artefacts.profile.document import Profile
from heapwright.profile.run import profile_trace
from heapwright.synth import costa, model, program
from heapwright.synth.distances import distances
from heapwright.synth.fit import fit
from heapwright.synth.observed import observe
from heapwright.synth.plan import LifetimeKind, Plan
from heapwright.synth.whole_numbers import deal


@pytest.fixture(scope="module")
def synthetic(model: Profile, tmp_path_factory: pytest.TempPathFactory) -> Profile:
    return drawn(model, tmp_path_factory.mktemp("synthetic") / "trace")


def drawn(profile: Profile, path: Path, factor: float = 1.0, threads: int | None = None) -> Profile:
    program.draw(model.plan(profile, factor=factor, threads=threads, seed=3), path)
    return profile_trace(path)


def by_aspect(one: Profile, other: Profile) -> dict[str, float | None]:
    return {each.aspect: each.distance for each in distances(one, other)}


def test_the_load_has_the_totals_of_its_model(model: Profile, synthetic: Profile) -> None:
    assert synthetic.totals.allocations == pytest.approx(model.totals.allocations, rel=0.001)
    assert synthetic.totals.bytes == pytest.approx(model.totals.bytes, rel=0.02)
    assert synthetic.totals.never_freed == pytest.approx(model.totals.never_freed, abs=2)
    assert synthetic.totals.null_frees == pytest.approx(model.totals.null_frees, rel=0.2)
    assert synthetic.provenance.events == pytest.approx(model.provenance.events, rel=0.01)
    assert synthetic.provenance.duration_s == pytest.approx(model.provenance.duration_s, rel=0.02)
    assert len(synthetic.threads) == len(model.threads)


def test_the_load_is_near_its_model_in_every_aspect(model: Profile, synthetic: Profile) -> None:
    apart = by_aspect(model, synthetic)
    assert apart["sizes"] is not None
    assert apart["sizes"] < 0.02
    assert apart["lifetimes"] is not None
    assert apart["lifetimes"] < 0.15
    assert apart["live curve"] is not None
    assert apart["live curve"] < 0.06
    assert apart["hand-overs"] is not None
    assert apart["hand-overs"] < 0.02
    assert apart["routines"] is not None
    assert apart["routines"] < 0.02


def test_the_default_is_nearer_than_the_published_recipe(
    model: Profile, synthetic: Profile, tmp_path: Path
) -> None:
    program.draw(costa.plan(model, factor=1.0, threads=None, seed=3), tmp_path / "costa")
    published = by_aspect(model, profile_trace(tmp_path / "costa"))
    ours = by_aspect(model, synthetic)
    for aspect in ("lifetimes", "live curve", "hand-overs"):
        nearer, farther = ours[aspect], published[aspect]
        assert nearer is not None
        assert farther is not None
        assert nearer < farther, aspect


@pytest.mark.parametrize("factor", [0.25, 3.0])
def test_a_load_of_another_length_is_stretched(
    model: Profile, tmp_path: Path, factor: float
) -> None:
    other = drawn(model, tmp_path / "trace", factor)
    assert other.provenance.events == pytest.approx(model.provenance.events * factor, rel=0.02)
    assert other.totals.never_freed == pytest.approx(model.totals.never_freed * factor, rel=0.02)
    assert other.pattern.kind == model.pattern.kind
    apart = by_aspect(model, other)["live curve"]
    assert apart is not None
    assert apart < 0.15


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_a_load_has_as_many_threads_as_asked_for(
    model: Profile, tmp_path: Path, threads: int
) -> None:
    other = drawn(model, tmp_path / "trace", threads=threads)
    assert len(other.threads) == threads
    crossing = other.cross_thread_frees.count
    assert (crossing == 0) == (threads == 1)


def test_the_same_seed_gives_the_same_trace(model: Profile, tmp_path: Path) -> None:
    drawn(model, tmp_path / "one")
    drawn(model, tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_the_fit_keeps_lifetimes_by_size_exactly(model: Profile) -> None:
    seen = observe(model)
    cells = fit(seen)
    assert (cells >= 0).all()
    found = np.add.reduceat(cells.sum(axis=0), seen.group)
    assert found == pytest.approx(seen.count, rel=1e-6)
    assert cells.sum(axis=1) == pytest.approx(seen.allocations, rel=0.05, abs=2)


def test_dealing_keeps_the_columns_and_agrees_with_what_was_expected(model: Profile) -> None:
    seen = observe(model)
    expected = fit(seen)
    counts = deal(expected, seen, seed=1)
    assert counts.min() >= 0
    assert np.abs(counts.sum(axis=0) - expected.sum(axis=0)).max() < 1 + 1e-6
    assert np.abs(np.cumsum(counts, axis=0) - np.cumsum(expected, axis=0)).max() < 1 + 1e-5


def test_the_plan_says_nothing_that_the_profile_does_not(model: Profile) -> None:
    plan = model_plan(model)
    assert plan.lifetimes[-1].kind is LifetimeKind.NEVER
    assert all(low.high >= low.low for low in plan.lifetimes)
    assert all(count > 0 for phase in plan.phases for _, _, count in phase.cells)


def model_plan(profile: Profile) -> Plan:
    return model.plan(profile, factor=1.0, threads=None, seed=1)
