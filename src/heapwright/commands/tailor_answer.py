# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What a search of `heapwright tailor` knows, and the document that says it."""

import math
import os
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from heapwright import __version__
from heapwright.artefacts.comparison.document import Comparison, label_of
from heapwright.artefacts.run.provenance import read_environment
from heapwright.artefacts.tailoring import document
from heapwright.artefacts.tailoring.document import (
    Answer,
    Judgement,
    ProgramFigures,
    Proof,
    Ratio,
    Refinement,
    StepValue,
    Tailoring,
)
from heapwright.artefacts.tailoring.folder import Replayed, TailorFolder
from heapwright.artefacts.tailoring.inputs import Input
from heapwright.base.paths import is_file
from heapwright.commands.tailor_candidates import Candidate
from heapwright.commands.tailor_race import CONFIDENCE, SYSTEM
from heapwright.tailor.figures import Figures
from heapwright.tailor.judge import answer_of, finalists, front

PAGE = "page.html"
DIGEST = "digest"
"""Beside the tailored library: that of its candidate."""
NOT_ON_FRONT = "another replays no slower and with no more memory"


@dataclass(frozen=True, slots=True)
class Options:
    """The command line, read."""

    inputs: tuple[Input, ...]
    """The first is raced."""
    unseen: tuple[Input, ...]
    name: str
    proposal: str | None
    """The only one that is tried; None: all."""
    budget_s: float
    folder: Path | None
    margin: float
    cpus: tuple[int, ...]
    seed: int | None
    compiler: str | None
    json_file: str | None
    quiet: bool


@dataclass(slots=True)
class Search:
    """What is known so far."""

    figures: Figures
    candidates: tuple[Candidate, ...]
    compiler: str
    replays: dict[str, Replayed]
    """By name, those of glibc and granary too."""
    race: Comparison | None = None
    winner: Candidate | None = None
    against: str = SYSTEM
    """The fastest existing allocator of the race."""
    leanest: str = SYSTEM
    refinement: Refinement | None = None
    refined: tuple[Candidate, ...] = ()
    """The neighbours that won a round, the last one last."""
    steps: tuple[StepValue, ...] = ()
    """Of the winner."""
    proofs: tuple[Proof, ...] = ()
    refused: frozenset[str] = frozenset()
    """Candidates that failed their proof."""
    judged: tuple[Judgement, ...] = ()
    notes: tuple[str, ...] = ()
    finished: bool = False
    interrupted: bool = False
    unseen_s: Mapping[Input, float] = field(default_factory=dict)
    """The wall time of each unseen command or program, run once."""


def figure_of(comparison: Comparison) -> str:
    deciding = comparison.design.race
    if deciding is not None:
        return deciding
    return "cpu" if comparison.response("cpu") is not None else "time"


def pairs_of(race: Comparison, names: Iterable[str]) -> dict[str, tuple[float, float]]:
    """By name: time and memory relative to the baseline, infinite for an allocator that failed."""
    figure = figure_of(race)

    def ratio(name: str, response: str) -> float:
        if label_of(name, "") == race.design.baseline:
            return 1.0
        effect = race.effect((name, ""), response)
        return math.inf if effect is None else effect.ratio

    return {name: (ratio(name, figure), ratio(name, "memory")) for name in names}


def is_made(options: Options, folder: TailorFolder, search: Search) -> bool:
    """Whether the folder has the header and the library of the winner, and they are proved."""
    if search.winner is None:
        return False
    place = folder.allocators / options.name
    try:
        digest = (place / DIGEST).read_text("utf-8")
    except (OSError, ValueError):
        return False
    proof = folder.proofs().get(digest)
    files = (folder.path / f"{options.name}.hpp", place / f"libheapwright-{options.name}.so")
    return (
        digest == search.winner.digest
        and proof is not None
        and not proof.failed
        and all(map(is_file, files))
    )


def document_of(options: Options, folder: TailorFolder, search: Search) -> Tailoring:
    header = folder.path / f"{options.name}.hpp"
    library = folder.allocators / options.name / f"libheapwright-{options.name}.so"
    made = is_made(options, folder, search)
    rebuild = ["heapwright", "compose", options.name, "--file", str(header)]
    again = ["heapwright", "tailor", "--name", options.name]
    if search.winner is not None:
        again += ["--proposal", search.winner.name]
    first, *further = (
        str(each.trace or folder.trace(number)) for number, each in enumerate(options.inputs)
    )
    for trace in further:
        again += ["--input", trace]
    if options.compiler is not None:
        rebuild += ["--compiler", options.compiler]
        again += ["--compiler", options.compiler]
    machine = read_environment([], dict(os.environ))
    return Tailoring(
        heapwright_version=__version__,
        environment=machine,
        inputs=tuple(each.words for each in options.inputs),
        unseen=tuple(each.words for each in options.unseen),
        compiler=search.compiler,
        margin=options.margin,
        confidence=CONFIDENCE,
        seed=folder.question.seed,
        figures=_program_figures(search.figures),
        candidates=_rows(search),
        raced=ratios_of(search.race),
        refinement=search.refinement,
        winner=search.winner.name if search.winner and made else "",
        steps=search.steps if made else (),
        proofs=search.proofs,
        judged=search.judged,
        header=str(header) if made else "",
        library=str(library) if made else "",
        rebuild=shlex.join(rebuild) if made else "",
        rebuild_from_trace=shlex.join([*again, first]) if made else "",
        answer=_answer(options, search),
        finished=search.finished,
    )


def _answer(options: Options, search: Search) -> Answer:
    if search.finished and search.judged:
        answer = answer_of(options.name, search.judged, inputs=len(options.inputs))
        return answer.model_copy(update={"notes": (*search.notes, *answer.notes)})
    if search.finished:
        return Answer(
            action="existing",
            allocator=search.against,
            reason=f"No special allocator is worth it, so use {search.against}",
            notes=search.notes,
        )
    best = search.winner.name if search.winner else next(iter(_best_replays(search)), "none")
    return Answer(
        action="undecided",
        allocator="",
        reason=f"Undecided: the search was interrupted. The best proposal so far is {best}",
        notes=search.notes,
    )


def _best_replays(search: Search) -> list[str]:
    return finalists(_own_replays(search))


def _own_replays(search: Search) -> dict[str, Replayed]:
    return {each.name: search.replays[each.name] for each in search.candidates}


def _program_figures(figures: Figures) -> ProgramFigures:
    return ProgramFigures(
        allocations=figures.allocations,
        frees=figures.frees,
        reallocs=figures.reallocs,
        moved_reallocs=figures.moved,
        remote_frees=figures.remote,
        threads=figures.threads,
        sizes=len(figures.counts),
        peak_live_bytes=figures.peak_bytes,
        never_freed=figures.never_freed,
        list_hits={depth: figures.hit_share(depth) for depth in figures.hits},
    )


def _rows(search: Search) -> tuple[document.Candidate, ...]:
    best = front(_own_replays(search))
    stayed = {
        **dict.fromkeys(best, "it is no finalist of the front"),
        **dict.fromkeys(_best_replays(search), ""),
    }
    return tuple(
        row_of(
            each,
            search.replays[each.name],
            front=each.name in best,
            left=stayed.get(each.name, NOT_ON_FRONT),
        )
        for each in search.candidates
    )


def row_of(
    candidate: Candidate, replayed: Replayed, *, front: bool, left: str
) -> document.Candidate:
    """A candidate in the document. `left`: why it left, if its replay did not fail."""
    steps = "; ".join(f"{step.name} = {step.type}" for step in candidate.sentence.steps())
    return document.Candidate(
        name=candidate.name,
        digest=candidate.digest,
        type=" ".join(steps.split()),
        seconds=replayed.seconds,
        peak_bytes=replayed.peak_bytes,
        faults=replayed.faults,
        instructions=replayed.instructions,
        front=front,
        left=replayed.why_not or left,
    )


def ratios_of(race: Comparison | None) -> dict[str, tuple[Ratio | None, Ratio | None]]:
    """By name: time and memory relative to the baseline, with intervals."""
    if race is None:
        return {}
    figure = figure_of(race)

    def ratio(name: str, response: str) -> Ratio | None:
        found = race.effect((name, ""), response)
        return None if found is None else Ratio(ratio=found.ratio, low=found.low, high=found.high)

    return {
        each.allocator: (ratio(each.allocator, figure), ratio(each.allocator, "memory"))
        for each in race.treatments
    }


def lines_of(folder: TailorFolder, search: Search) -> list[str]:
    place = shlex.quote(str(folder.path))
    return (
        [f"search: {place}", f"page: {shlex.quote(str(folder.path / PAGE))}"]
        if search.finished
        else [f"the same command with -o {place} continues"]
    )
