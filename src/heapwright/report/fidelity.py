# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""How far a synthetic load is from its model, on a terminal: distances, figures of both, ranks."""

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from heapwright.artefacts.fidelity.document import Distance, Fidelity, RankedAllocator, Ranking
from heapwright.report.columns import Columns
from heapwright.report.profile.comparison_table import print_comparison

NAMES = ("model", "synthetic")
NOTHING = "?"


def print_fidelity(console: Console, fidelity: Fidelity, *, quiet: bool = False) -> None:
    """Distances first; `quiet` leaves only these."""
    rows = [(each.aspect, _how(each), _figure(each.distance)) for each in fidelity.distances]
    console.print(Columns(("Aspect", "", "Distance"), rows, left=2))
    if quiet:
        return
    console.print(Text("0: the same. What each distance is, and its limits: docs/synth.md", "dim"))
    console.print()
    print_comparison(console, fidelity.model, fidelity.synthetic, NAMES)
    if fidelity.ranking is not None:
        console.print()
        _print_ranking(console, fidelity.ranking)


def _how(distance: Distance) -> str:
    return f"{distance.how} ({distance.why})" if distance.why else distance.how


def _print_ranking(console: Console, ranking: Ranking) -> None:
    console.print(Text(f"Replayed, as ratios to {ranking.baseline}", style="bold"))
    headings = ("Allocator", *(f"{what}, {name}" for what in ("time", "memory") for name in NAMES))
    console.print(Columns(headings, [_cells(each) for each in ranking.allocators]))
    for line in _conclusions(ranking):
        console.print(Text(line))


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
