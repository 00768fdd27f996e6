# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The verdict on a synthetic load, and its place in the report."""

from io import StringIO

import pytest

from heapwright.artefacts.fidelity.document import Aspect, Distance, Fidelity, Ranking, Recipe
from heapwright.artefacts.profile.document import Profile
from heapwright.report.console import make_console
from heapwright.report.fidelity import print_fidelity, verdict


def fidelity(
    factor: float = 1.0,
    ranking: Ranking | None = None,
    peak: int = 1000,
    **distances: float | None,
) -> Fidelity:
    """Only what the verdict reads."""
    names: dict[str, Aspect] = {"sizes": "sizes", "lifetimes": "lifetimes", "curve": "live curve"}
    return Fidelity.model_construct(
        recipe=Recipe(model="default", seed=1, factor=factor, threads=1),
        distances=tuple(
            Distance(aspect=names[name], distance=value, how="")
            for name, value in distances.items()
        ),
        ranking=ranking,
        model=Profile.model_construct(peak_live_bytes=1000),
        synthetic=Profile.model_construct(peak_live_bytes=peak),
    )


def test_a_close_load_is_called_close() -> None:
    (line,) = verdict(fidelity(sizes=0.001, lifetimes=0.05, curve=None))
    assert line.startswith("The load is close to its model")
    assert "0.050 (lifetimes)" in line


def test_the_aspects_that_differ_are_named_the_largest_first() -> None:
    (line,) = verdict(fidelity(sizes=0.15, lifetimes=0.02, curve=2.236))
    assert line == "The load differs from its model in live curve (2.236), sizes (0.150)."
    (longer,) = verdict(fidelity(factor=3.0, sizes=0.01, lifetimes=0.74))
    assert longer.endswith("With another length, lifetimes differ by construction.")


def test_another_peak_is_named_even_if_each_distance_is_small() -> None:
    (line,) = verdict(fidelity(peak=1128, curve=0.066))
    assert line == "The load differs from its model in peak of live memory (+12.8 %)."
    (line,) = verdict(fidelity(peak=880, sizes=0.15))
    assert line.endswith("in sizes (0.150), peak of live memory (-12.0 %).")
    for near in (fidelity(peak=1090, curve=0.066), fidelity(factor=3.0, peak=2000, curve=0.066)):
        (line,) = verdict(near)
        assert line.startswith("The load is close to its model")


def test_a_fidelity_without_figures_cannot_be_compared() -> None:
    (line,) = verdict(fidelity(sizes=None))
    assert "cannot be compared" in line


@pytest.mark.parametrize("quiet", [False, True])
def test_the_verdict_stands_before_every_table(
    quiet: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def figures(*_: object) -> None:
        stream.write("every figure\n")

    monkeypatch.setattr("heapwright.report.fidelity.print_comparison", figures)
    stream = StringIO()
    same = Ranking(baseline="glibc", blocks=5, allocators=(), tau_time=1.0, tau_memory=1.0)
    found = fidelity(ranking=same, sizes=0.01)
    print_fidelity(make_console(stream, width=100), found, quiet=quiet)
    lines = [line for line in stream.getvalue().splitlines() if line.strip()]
    if quiet:
        assert lines[0].split() == ["Aspect", "Distance"]
        assert len(lines) == 2
    else:
        assert lines[0].startswith("The load is close to its model")
        assert lines[1].startswith("Ranks agree with tau = 1.00")
        assert lines[-1] == "every figure"
