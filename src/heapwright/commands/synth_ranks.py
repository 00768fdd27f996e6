# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Compares the ranking of allocators on a program's trace and on a load that imitates it.

The machinery of `compare` replays both traces in randomised blocks. The orders of the ratios to the
baseline are compared.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heapwright.analysis.looks import fixed
from heapwright.artefacts.comparison.document import Comparison, Key, Response, label_of
from heapwright.artefacts.fidelity.document import RankedAllocator, Ranking
from heapwright.artefacts.run.journal import Journal
from heapwright.artefacts.run.provenance import read_environment
from heapwright.base.scratch import Scratch
from heapwright.commands.conclusion import Question, conclude
from heapwright.commands.interruption import telling_of
from heapwright.commands.progress import Display
from heapwright.commands.setup import Selection, select
from heapwright.experiment.comparison import Plan, run_experiment
from heapwright.experiment.design import fresh_seed
from heapwright.experiment.measurement import Conditions, Measurement
from heapwright.experiment.preload import PreloadPaths
from heapwright.replay.output import figures_of
from heapwright.replay.prepare import prepare, run_words
from heapwright.synth.ranks import kendall_tau, same_first

BASELINE = "glibc"
CONFIDENCE = 0.95
MARGIN = 0.02


@dataclass(frozen=True, slots=True)
class Wanted:
    """The traces to replay, and the allocators."""

    allocators: tuple[str, ...]
    blocks: int
    process: int | None
    """The process of the model's trace; the other trace has only one."""
    quiet: bool


def rank(model: Path, synthetic: Path, wanted: Wanted) -> Ranking:
    """Replay both. Raises HeapwrightError where a trace or an allocator cannot be used."""
    environment = dict(os.environ)
    with PreloadPaths() as paths, Scratch() as folder:
        selection = select(wanted.allocators, (), BASELINE, environment, paths)
        plans = folder / "model", folder / "synthetic"
        prepare(model, plans[0], process=wanted.process)
        prepare(synthetic, plans[1])
        comparisons = [_compared(run_words(plan), selection, paths, wanted) for plan in plans]
    return ranking_of(comparisons[0], comparisons[1])


def ranking_of(model: Comparison, synthetic: Comparison) -> Ranking:
    """The agreement of two orders of the same treatments."""
    keys = [treatment.key for treatment in model.treatments]
    times, memories = (
        [(_ratio(model, key, what), _ratio(synthetic, key, what)) for key in keys]
        for what in ("time", "memory")
    )
    rows = [
        RankedAllocator(
            allocator=label_of(*key),
            model_time=time[0],
            synthetic_time=time[1],
            model_memory=memory[0],
            synthetic_memory=memory[1],
        )
        for key, time, memory in zip(keys, times, memories, strict=True)
    ]
    return Ranking(
        baseline=model.design.baseline,
        blocks=min(model.design.blocks, synthetic.design.blocks),
        allocators=tuple(rows),
        tau_time=kendall_tau(times),
        tau_memory=kendall_tau(memories),
        same_fastest=same_first(times),
    )


def _ratio(comparison: Comparison, key: Key, what: Response) -> float | None:
    if key == comparison.treatments[0].key:
        return 1.0 if comparison.effects else None
    effect = comparison.effect(key, what)
    return None if effect is None else effect.ratio


def _compared(
    command: Sequence[str], selection: Selection, paths: PreloadPaths, wanted: Wanted
) -> Comparison:
    environment = dict(os.environ)
    looks = fixed(wanted.blocks, CONFIDENCE)
    question = Question(tuple(command), looks, MARGIN, None, ())
    plan = Plan(
        treatments=selection.treatments,
        seed=fresh_seed(),
        blocks=wanted.blocks,
        warmup=1,
        timeout_s=None,
        budget_s=None,
    )
    machine = read_environment(list(selection.allocators), environment)
    conditions = Conditions(tuple(command), environment, Path.cwd(), reader=figures_of)
    header = {"verb": "synth", "command": list(command), "seed": plan.seed}
    with Journal.open(header) as journal, telling_of(journal):
        measurement = Measurement(conditions, paths)
        count = len(plan.treatments)
        with Display(count, plan.warmup, lambda _: plan.blocks, quiet=wanted.quiet) as display:
            result = run_experiment(
                plan,
                measurement.execute,
                journal=journal,
                enough=lambda _runs, _blocks: "",
                watch=display.watch,
            )
        journal.discard()
    return conclude(plan, question, result, machine)
