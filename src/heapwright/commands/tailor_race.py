# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The runs of `heapwright tailor`: a race of the finalists, and complete blocks for the judgement.

Both are comparisons as `heapwright compare` makes them, and are kept in the folder of the search.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from heapwright.analysis.looks import fixed
from heapwright.artefacts.comparison.document import Comparison, label_of
from heapwright.artefacts.run.journal import Journal
from heapwright.artefacts.run.provenance import read_environment
from heapwright.artefacts.tailoring.folder import TailorFolder
from heapwright.artefacts.tailoring.inputs import Input
from heapwright.base.errors import HeapwrightError
from heapwright.base.processors import format_cpus
from heapwright.commands.conclusion import Question, conclude, enough_by, is_compared
from heapwright.commands.interruption import telling_of
from heapwright.commands.progress import Display
from heapwright.commands.race_progress import RaceDisplay
from heapwright.commands.racing import Racing, race_looks
from heapwright.commands.setup import select
from heapwright.commands.tuning_load import opened
from heapwright.experiment.comparison import Execute, Plan, Result, run_experiment
from heapwright.experiment.discovery import Discovery
from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.treatments import Request

CONFIDENCE = 0.95
SYSTEM, OWN = "glibc", "granary"
PEERS = ("jemalloc", "tcmalloc", "mimalloc")
"""The newest installed version of each is raced."""
LEAST_BLOCKS, MOST_BLOCKS = 5, 30
WARMUP = 1


@dataclass(frozen=True, slots=True)
class Field:
    """What is run, and against what."""

    folder: TailorFolder
    margin: float
    cpus: tuple[int, ...]
    quiet: bool


def newest_peers(discovery: Discovery) -> tuple[str, ...]:
    """The names of the existing allocators of the race."""
    found = [SYSTEM, OWN]
    for name in PEERS:
        known = [each for each in (f"{name}-latest", name) if each in discovery.names]
        usable = [each.name for each in discovery.look_up(map(Request, known)) if each.effective]
        found += usable[:1]
    return tuple(found)


def raced(
    field: Field,
    name: str,
    what: Input,
    own: Mapping[str, Path],
    peers: Sequence[str],
    baseline: str,
    budget_s: float,
) -> tuple[Comparison, Result | None]:
    """A race of own allocators with existing ones, or that of the folder."""
    if (kept := _kept(field, name, own, peers)) is not None:
        return kept, None
    return _compared(field, name, what, own, peers, baseline, budget_s, blocks=None)


def compared(
    field: Field,
    name: str,
    what: Input,
    own: Mapping[str, Path],
    peers: Sequence[str],
    baseline: str,
    blocks: int,
) -> tuple[Comparison, Result | None]:
    """Complete blocks with the best existing allocator as the baseline, or those of the folder."""
    if (kept := _kept(field, name, own, peers)) is not None:
        return kept, None
    return _compared(field, name, what, own, peers, baseline, None, blocks=blocks)


def _kept(
    field: Field, name: str, own: Mapping[str, Path], peers: Sequence[str]
) -> Comparison | None:
    """The comparison of the folder, if it has all of these allocators."""
    kept = field.folder.comparison(name)
    if kept is None or not {*own, *peers} <= {each.allocator for each in kept.treatments}:
        return None
    return kept


def run_s_of(comparison: Comparison) -> float:
    """The mean wall time of a run."""
    walls = [run.wall_s for run in comparison.runs if run.wall_s]
    return sum(walls) / max(1, len(walls))


def blocks_s(blocks: int, treatments: int, run_s: float) -> float:
    """About the time of these measured blocks, with the warm-up."""
    return (blocks + WARMUP) * treatments * run_s


def blocks_within(budget_s: float, treatments: int, run_s: float) -> int:
    """Blocks of a judgement that fit the time."""
    block_s = max(treatments * run_s, 1e-3)
    return max(LEAST_BLOCKS, min(MOST_BLOCKS, int(budget_s / block_s) - WARMUP))


def _compared(
    field: Field,
    name: str,
    what: Input,
    own: Mapping[str, Path],
    peers: Sequence[str],
    baseline: str,
    budget_s: float | None,
    *,
    blocks: int | None,
) -> tuple[Comparison, Result]:
    environment = dict(os.environ)
    names = [*peers, *(f"{each}={path}" for each, path in own.items())]
    cpus = format_cpus(set(field.cpus)) or None
    with PreloadPaths() as paths:
        selection = select(names, (), baseline, environment, paths)
        count = len(selection.treatments)
        looks = fixed(blocks, CONFIDENCE) if blocks else race_looks(count, CONFIDENCE, budget_s)
        with opened(what.words, what.program, SYSTEM, paths, environment, cpus) as load:
            question = Question(
                load.command,
                looks,
                field.margin,
                None,
                field.cpus,
                program=load.subject,
                race=blocks is None,
            )
            plan = Plan(
                treatments=selection.treatments,
                seed=field.folder.question.seed,
                blocks=looks.most_blocks,
                warmup=WARMUP,
                timeout_s=None,
                budget_s=budget_s,
            )
            header = {
                "command": load.command,
                "seed": plan.seed,
                "baseline": label_of(*plan.baseline.key),
            }
            with Journal.open(header, [field.folder.path], name=name) as journal:
                with telling_of(journal):
                    result = _run(field, plan, question, load.execute, journal)
                machine = read_environment(list(selection.allocators), environment)
                comparison = conclude(plan, question, result, machine)
                complete = result.failure is None and not result.interrupted
                if complete and is_compared(comparison):
                    field.folder.keep(f"{name}.json", comparison.to_json())
                    journal.discard()
    return comparison, result


def _run(
    field: Field, plan: Plan, question: Question, execute: Execute, journal: Journal
) -> Result:
    racing = Racing(plan, question) if question.race else None
    display: Display | RaceDisplay
    if racing is None:
        display = Display(
            len(plan.treatments), WARMUP, lambda _: plan.blocks, adaptive=False, quiet=field.quiet
        )
    else:
        display = RaceDisplay(racing, plan, quiet=field.quiet)
    with display:
        try:
            return run_experiment(
                plan,
                execute,
                journal=journal,
                enough=enough_by(plan, question) if racing is None else racing.enough,
                left=tuple if racing is None else racing.left,
                watch=display.watch,
            )
        except HeapwrightError:
            journal.discard()
            raise
