# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The distance of a synthetic load from its model, on a terminal: the verdict, then its
evidence."""

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from heapwright.artefacts.fidelity.document import Distance, Fidelity, RankedAllocator, Ranking
from heapwright.report.columns import Columns
from heapwright.report.profile.comparison_table import print_comparison

NAMES = ("model", "synthetic")
NOTHING = "?"
CLOSE = 0.1
"""The largest distance called close; docs/reference/synth.md has the distances of programs."""


def print_fidelity(console: Console, fidelity: Fidelity, *, quiet: bool = False) -> None:
    """The verdict first, the figures of both last; `quiet` leaves the distances alone."""
    if not quiet:
        for line in verdict(fidelity):
            console.print(Text(line, style="bold"))
        console.print()
    rows = [(each.aspect, _how(each), _figure(each.distance)) for each in fidelity.distances]
    console.print(Columns(("Aspect", "", "Distance"), rows, left=2))
    if quiet:
        return
    console.print(
        Text("0: the same. What each distance is, and its limits: docs/reference/synth.md", "dim")
    )
    if fidelity.ranking is not None:
        console.print()
        _print_ranking(console, fidelity.ranking)
    console.print()
    print_comparison(console, fidelity.model, fidelity.synthetic, NAMES)


def verdict(fidelity: Fidelity) -> Iterator[str]:
    """Whether the load is like its model, and whether allocators rank the same on both."""
    known = [each for each in fidelity.distances if each.distance is not None]
    far = sorted((each for each in known if _of(each) > CLOSE), key=_of, reverse=True)
    differing = [f"{each.aspect} ({_figure(each.distance)})" for each in far]
    differing += _other_peak(fidelity)
    if differing:
        text = f"The load differs from its model in {', '.join(differing)}."
        if fidelity.recipe.factor != 1.0 and "lifetimes" in [each.aspect for each in far]:
            text += " With another length, lifetimes differ by construction."
        yield text
    elif known:
        most = max(known, key=_of)
        yield (
            f"The load is close to its model: no distance is above {CLOSE:g}; the largest is "
            f"{_figure(most.distance)} ({most.aspect})."
        )
    else:
        yield "The load cannot be compared with its model: no distance is known."
    if fidelity.ranking is not None:
        yield from _conclusions(fidelity.ranking)


def _other_peak(fidelity: Fidelity) -> Iterator[str]:
    """The peak of live memory, if it differs. With another length it differs by construction."""
    model, synthetic = fidelity.model.peak_live_bytes, fidelity.synthetic.peak_live_bytes
    if fidelity.recipe.factor == 1.0 and model and abs(synthetic / model - 1) > CLOSE:
        yield f"peak of live memory ({100 * (synthetic / model - 1):+.1f} %)"


def _of(distance: Distance) -> float:
    return distance.distance or 0.0


def _how(distance: Distance) -> str:
    return f"{distance.how} ({distance.why})" if distance.why else distance.how


def _print_ranking(console: Console, ranking: Ranking) -> None:
    console.print(Text(f"Replayed, as ratios to {ranking.baseline}", style="bold"))
    headings = ("Allocator", *(f"{what}, {name}" for what in ("time", "memory") for name in NAMES))
    console.print(Columns(headings, [_cells(each) for each in ranking.allocators]))


def _cells(row: RankedAllocator) -> tuple[str, ...]:
    figures = (row.model_time, row.synthetic_time, row.model_memory, row.synthetic_memory)
    return (row.allocator, *map(_figure, figures))


def _conclusions(ranking: Ranking) -> Iterator[str]:
    if ranking.tau_time is not None and ranking.tau_memory is not None:
        yield (
            f"Ranks agree with tau = {ranking.tau_time:.2f} in time and {ranking.tau_memory:.2f} "
            f"in memory (1: the same order); {ranking.blocks} blocks."
        )
    if ranking.same_fastest is not None:
        yield f"The fastest is {'the same' if ranking.same_fastest else 'not the same'} on both."


def _figure(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.3f}"
