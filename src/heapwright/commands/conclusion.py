# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Builds the document from an experiment's runs: joins experiment, analysis and artefact."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from heapwright import __version__
from heapwright.analysis.analyse import Analysis, Settings, analyse, settings_of
from heapwright.analysis.apply import Invocation
from heapwright.analysis.checked import checked_verdict
from heapwright.analysis.levels import overall
from heapwright.analysis.looks import LookPlan, decide
from heapwright.analysis.race.runs import Deciding, deciding_figure_of
from heapwright.artefacts.comparison.counts import counted
from heapwright.artefacts.comparison.document import (
    Comparison,
    Design,
    Effect,
    Level,
    TreatmentInfo,
    Verdict,
    label_of,
)
from heapwright.artefacts.comparison.levels import Part, parts, views
from heapwright.artefacts.program.model import ProgramSubject
from heapwright.artefacts.run.measured import Outcome, Run
from heapwright.artefacts.run.provenance import Environment
from heapwright.artefacts.run.replay import ReplaySubject, shows_memory
from heapwright.experiment.comparison import Plan, Result
from heapwright.experiment.treatments import Treatment


@dataclass(frozen=True, slots=True)
class Question:
    """The parts of the request that the analysis needs."""

    command: tuple[str, ...]
    looks: "LookPlan"
    margin: float
    cap_bytes: int | None
    pinned_cpus: tuple[int, ...]
    replay: ReplaySubject | None = None
    program: ProgramSubject | None = None
    race: bool = False
    exact: bool = False

    def figure(self, runs: Sequence[Run], treatments: Sequence[Treatment]) -> Deciding | None:
        """The figure that decides the race. None: the command does not race.

        A replay and each program of the catalogue report their own time, which decides.
        """
        if not self.race:
            return None
        if self.replay is not None or self.program is not None:
            return "time"
        commands = {each.key: each.command for each in treatments}
        groups: dict[tuple[str, ...], list[Run]] = {}
        for run in runs:
            groups.setdefault(commands[run.allocator, run.level], []).append(run)
        return deciding_figure_of(groups.values())

    @property
    def judges_memory(self) -> bool:
        """Whether the memory of the runs is that of the program."""
        return self.replay is None or shows_memory(self.replay.touch)


def describe(treatment: Treatment) -> TreatmentInfo:
    """A treatment as the document holds it."""
    allocator = treatment.allocator
    return TreatmentInfo(
        allocator=allocator.name,
        level=treatment.level,
        label=label_of(*treatment.key),
        kind=allocator.kind,
        environment=dict(treatment.environment),
        preload=allocator.path,
        version=allocator.version,
        sha256=allocator.sha256,
        command=treatment.command,
        parameters=dict(treatment.levels),
    )


def conclude(
    plan: Plan, question: Question, result: Result, environment: Environment
) -> Comparison:
    """Analyse the runs and build the document."""
    design = _design(plan, question, result)
    treatments = [describe(treatment) for treatment in plan.treatments]
    settings = replace(settings_of(design), judges_memory=question.judges_memory)
    invocation = Invocation(question.command, environment.settings)
    found = [
        (part, analyse(part.runs, part.treatments, part.treatments[0].key, settings, invocation))
        for part in parts(treatments, result.runs)
    ]
    levels = tuple(_level(part, analysis) for part, analysis in found) if len(found) > 1 else ()
    alone = found[0][1] if not levels else None
    return Comparison(
        heapwright_version=__version__,
        command=question.command,
        environment=environment,
        design=design,
        treatments=tuple(treatments),
        runs=tuple(result.runs),
        effects=tuple(each for part, analysis in found for each in _effects(part, analysis)),
        responses=alone.responses if alone else (),
        pareto=alone.pareto if alone else (),
        verdict=_verdict(question, result, alone, levels),
        race=alone.race if alone else None,
        levels=levels,
        replay=question.replay,
        program=question.program,
    )


def _verdict(
    question: Question, result: Result, alone: Analysis | None, levels: Sequence[Level]
) -> Verdict:
    if question.replay is not None and question.replay.checked:
        return checked_verdict(result.runs)
    return alone.verdict if alone else overall(levels)


def _level(part: Part, analysis: Analysis) -> Level:
    return Level(
        parameters=dict(part.parameters),
        baseline=part.treatments[0].label,
        responses=analysis.responses,
        pareto=analysis.pareto,
        verdict=analysis.verdict,
        race=analysis.race,
    )


def _effects(part: Part, analysis: Analysis) -> list[Effect]:
    """With the keys of the document."""
    outside = {inside: key for key, inside in part.keys.items()}
    return [each.model_copy(update={"level": outside[each.key][1]}) for each in analysis.effects]


def _design(plan: Plan, question: Question, result: Result) -> Design:
    return Design(
        blocks=result.blocks,
        warmup=plan.warmup,
        seed=plan.seed,
        baseline=label_of(*plan.baseline.key),
        until=question.looks.until,
        looks=() if question.race else question.looks.looks,
        confidence=question.looks.confidence,
        margin=question.margin,
        cap_bytes=question.cap_bytes,
        pinned_cpus=question.pinned_cpus,
        timeout_s=result.timeout_s,
        stopped_because=result.stopped_because,
        race=question.figure(result.runs, plan.treatments),
        exact=question.exact,
    )


def enough_by(plan: Plan, question: Question) -> Callable[[Sequence[Run], int], str]:
    """Called by the engine after each block: are the ratios precise enough?"""
    treatments = [describe(treatment) for treatment in plan.treatments]
    looks = question.looks
    baseline = plan.baseline.key

    def enough(runs: Sequence[Run], blocks: int) -> str:
        if question.exact and any(
            (run.allocator, run.level) == baseline and run.outcome is not Outcome.OK for run in runs
        ):
            return "the command cannot be counted under the baseline"
        if looks.until is None or blocks not in looks.looks:
            return ""
        settings = Settings(
            looks.level, question.margin, question.cap_bytes, plan.seed, question.judges_memory
        )
        decisions = [
            decide(
                looks, blocks, analyse(p.runs, p.treatments, p.treatments[0].key, settings).effects
            )
            for p in parts(treatments, runs)
        ]
        return decisions[0].because if all(each.stop for each in decisions) else ""

    return enough


def is_compared(comparison: Comparison) -> bool:
    """Whether anything was compared, that is, a treatment other than a baseline has a ratio.

    Counts of the baseline alone are also a result, because `gate` judges a later document against
    them. A checked replay is one for each allocator.
    """
    if comparison.replay is not None and comparison.replay.checked:
        return any(run.outcome is Outcome.OK for run in comparison.runs)
    if comparison.design.exact and len(comparison.treatments) == 1:
        return counted(comparison.runs, comparison.treatments[0].key) is not None
    return any(
        effect.key != view.treatments[0].key
        for _, view in views(comparison)
        for effect in view.effects
    )
