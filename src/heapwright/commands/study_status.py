# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright study status`: the progress of a study and the outcomes of its runs."""

from collections import Counter
from collections.abc import Collection, Mapping
from itertools import pairwise
from pathlib import Path

from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.run.provenance import Allocator, Kind
from heapwright.artefacts.study_results.folder import Folder
from heapwright.artefacts.study_results.runs import Cell, StudyDesign, StudyRun
from heapwright.artefacts.study_results.store import is_being_written
from heapwright.commands.progress import duration
from heapwright.commands.text import printing
from heapwright.experiment.blocks import Blocks, Plan
from heapwright.experiment.treatments import Treatment
from heapwright.report.console import make_console
from heapwright.report.study_status import BadEnd, StudyStatus, print_status

ALL = "all"


def show_status(path: Path) -> None:
    """Print it. Raises HeapwrightError for a path that is no results folder."""
    status = status_of(Folder.open(path))
    words = "" if status.remaining_s is None else f"about {duration(status.remaining_s)} left"
    with printing():
        print_status(make_console(), status, words)


def status_of(folder: Folder) -> StudyStatus:
    """The present state of the folder."""
    design = folder.design
    cells = {cell.id: cell for cell in design.treatments}
    runs: dict[tuple[int, str], StudyRun] = {}
    for run in folder.runs():
        if run.treatment in cells:
            runs.setdefault(run.key, run)
    factor = design.allocator_factor

    def group(run: StudyRun) -> str:
        return cells[run.treatment].levels[factor] if factor is not None else ALL

    outcomes: dict[str, Counter[Outcome]] = {
        level: Counter() for level in design.allocator_levels or (ALL,)
    }
    for run in runs.values():
        outcomes[group(run)][run.outcome] += 1
    bad: dict[tuple[str, Outcome], list[StudyRun]] = {}
    for run in runs.values():
        if run.outcome is not Outcome.OK:
            bad.setdefault((group(run), run.outcome), []).append(run)
    left = _left(design, {key: run.outcome for key, run in runs.items()})
    return StudyStatus(
        folder=str(folder.path),
        design=design,
        made=len(runs),
        outcomes=outcomes,
        bad_ends=[
            BadEnd(name, outcome, len(same), same[0].detail)
            for (name, outcome), same in bad.items()
        ],
        hopeless=_hopeless(runs.values(), cells),
        hosts=sorted(folder.environments),
        running=is_being_written(folder.path),
        torn=folder.lines()[1],
        left=left,
        remaining_s=_remaining(list(runs.values()), left),
    )


def _hopeless(runs: Collection[StudyRun], cells: Mapping[str, Cell]) -> list[str]:
    """The levels of the treatments whose runs all failed."""
    ran = dict.fromkeys(run.treatment for run in runs)
    good = {run.treatment for run in runs if run.outcome is Outcome.OK}
    return [" ".join(cells[each].levels.values()) for each in ran if each not in good]


def _left(design: StudyDesign, made: Mapping[tuple[int, str], Outcome]) -> int:
    """The number of runs that `resume` would make, without treatments that were given up."""
    treatments = {
        cell.id: Treatment(Allocator(name=cell.allocator, kind=Kind.FILE), cell.id)
        for cell in design.treatments
    }
    plan = Plan(tuple(treatments.values()), design.seed, design.blocks, design.discard)
    known = {(block, treatments[each].key): end for (block, each), end in made.items()}
    return sum(1 for _ in Blocks(plan, known))


def _remaining(runs: list[StudyRun], left: int) -> float | None:
    """Estimated from the time between runs, for all hosts in parallel; None without an estimate."""
    paces = []
    for host in {run.host for run in runs}:
        began = sorted(run.began for run in runs if run.host == host)
        steps = sorted(later - earlier for earlier, later in pairwise(began))
        if steps:
            usual = steps[: max(1, len(steps) * 99 // 100)]  # ignore pauses between sessions
            paces.append(len(usual) / max(sum(usual), 1e-9))
    return left / sum(paces) if paces else None
