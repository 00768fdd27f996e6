# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The value of each step of a tailored allocator: the replays of the allocator without it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from heapwright.artefacts.tailoring.document import StepValue
from heapwright.artefacts.tailoring.folder import TailorFolder
from heapwright.commands.slow_steps import reporting_steps
from heapwright.commands.tailor_answer import Search
from heapwright.commands.tailor_candidates import (
    Candidate,
    candidates_of,
    compilation_s,
    compile_all,
    counting_s,
    replay_all,
)
from heapwright.compose.workshop import NotComposableError
from heapwright.tailor.undone import undone, with_values


@dataclass(frozen=True, slots=True)
class Place:
    """Where the steps are measured, and how."""

    folder: TailorFolder
    trace: Path
    compiler: str | None
    quiet: bool


def value_steps(place: Place, search: Search, left_s: float) -> None:
    """Measure the steps of the winner. Its captions then have their values.

    Without enough time, there is a note instead.
    """
    winner = search.winner
    assert winner is not None
    search.steps = ()
    variants = list(undone(winner.sentence))
    without = [candidates_of([each.sentence], place.folder)[0] for each in variants]
    if not variants:
        return
    whole = search.replays[winner.name]
    if whole.seconds is None:
        search.notes += (
            f"the value of each step was not measured: a replay does not show {winner.name}",
        )
        return
    needed = compilation_s(without) + counting_s([whole] * _missing(without, place.folder))
    if needed > max(0.0, left_s):
        search.notes += (
            f"the value of each step was not measured, because it takes about {needed:.0f} s",
        )
        return
    with reporting_steps(quiet=place.quiet) as tell:
        try:
            compile_all(without, place.compiler, tell)
        except NotComposableError as error:
            search.notes += (f"the value of each step was not measured: {error.message}",)
            return
        libraries: dict[str, Path | None] = {each.digest: each.library for each in without}
        counted = left_s if whole.instructions is not None else 0.0
        found = replay_all(place.trace, libraries, place.folder, tell, counted)
    pairs = [(each, found[own.digest]) for each, own in zip(variants, without, strict=True)]
    search.steps = tuple(
        StepValue(
            step=each.slot, instead=each.instead, **replayed.model_dump(exclude={"not_counted"})
        )
        for each, replayed in pairs
    )
    search.winner = replace(winner, sentence=with_values(winner.sentence, whole, pairs))


def _missing(candidates: Sequence[Candidate], folder: TailorFolder) -> int:
    known = folder.replays()
    return sum(each.digest not in known for each in candidates)
