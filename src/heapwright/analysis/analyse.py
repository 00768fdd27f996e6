# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The whole analysis of a comparison: runs in, effects and a verdict out.

Treatments with any bad outcome are left out of every figure, because the good runs of a crashing
program may look fast. The baseline is an exception: its good runs remain the reference. The same
runs, settings and seed give the same answer in any order of the treatments.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from heapwright.analysis.advice import switch_notes, winning
from heapwright.analysis.apply import NO_COMMAND, Invocation, how_to_apply
from heapwright.analysis.blocked import (
    NO_SCATTER,
    BlockedFit,
    Cells,
    comparable,
    fit,
    scatter_is_unequal,
    tabulate,
    value_of,
)
from heapwright.analysis.exact import decide_exact
from heapwright.analysis.intervals import FEWEST_BOOTSTRAP_BLOCKS, Intervals, simultaneous
from heapwright.analysis.letters import compact_letters
from heapwright.analysis.race.effects import race_summary, raced_effects, raced_summary
from heapwright.analysis.race.race import Race, Rules
from heapwright.analysis.race.runs import Deciding, Reading, race_of
from heapwright.analysis.race.verdict import Raced, decide_race
from heapwright.analysis.ratio_text import Span
from heapwright.analysis.separation import Point, apart, shown_front
from heapwright.analysis.verdict import Entrant, Rule, decide
from heapwright.artefacts.comparison.document import (
    Design,
    Effect,
    Key,
    RaceSummary,
    Response,
    ResponseSummary,
    TreatmentInfo,
    Verdict,
    count_outcomes,
    label_of,
)
from heapwright.artefacts.run.exact_counts import COUNTS, INSTRUCTIONS
from heapwright.artefacts.run.measured import Outcome, Run

RESPONSES: tuple[Response, ...] = ("time", "memory", "cpu")
Unit = Literal["s", "bytes", "ns", "ratio", "count"]
_UNITS: dict[Response, Unit] = {"time": "s", "memory": "bytes", "cpu": "s"}


def unit_of(response: Response) -> Unit:
    """Units of the responses. The unit of a further measure is the end of its name."""
    if response in _UNITS:
        return _UNITS[response]
    if response in COUNTS:
        return "count"
    if response.endswith("_ns"):
        return "ns"
    return "bytes" if response.endswith("_bytes") else "ratio"


@dataclass(frozen=True, slots=True)
class Settings:
    """How to analyse: confidence of this look's intervals, margin, cap, seed of the bootstrap.

    Without `judges_memory` the verdict is on time alone: the runs did not show the memory of the
    program.

    `race` is the figure that decides a race; None: the blocks are complete. With `exact` the runs
    counted instructions, and these decide.
    """

    level: float
    margin: float = 0.02
    cap_bytes: int | None = None
    seed: int = 0
    judges_memory: bool = True
    race: Deciding | None = None
    exact: bool = False


def settings_of(design: Design) -> Settings:
    """The settings for the analysis of a finished comparison.

    The error rate is shared among the looks only if there were any to choose from.
    """
    shares = len(design.looks) if design.until is not None and design.looks else 1
    level = 1 - (1 - design.confidence) / shares
    return Settings(
        level,
        design.margin,
        design.cap_bytes,
        design.seed,
        race=design.race,
        exact=design.exact,
    )


@dataclass(frozen=True, slots=True)
class Analysis:
    """What a Comparison holds besides design and runs."""

    effects: tuple[Effect, ...]
    responses: tuple[ResponseSummary, ...]
    pareto: tuple[str, ...]
    verdict: Verdict
    race: RaceSummary | None = None


def analyse(
    runs: Sequence[Run],
    treatments: Sequence[TreatmentInfo],
    baseline: Key,
    settings: Settings,
    invocation: Invocation = NO_COMMAND,
) -> Analysis:
    """Analyse `runs` of `treatments` against `baseline`; `invocation` is for the lines of advice.

    Raises ValueError if the baseline is not among the treatments or one of them is named twice.
    """
    infos = {info.key: info for info in treatments}
    if baseline not in infos or len(infos) < len(treatments):
        raise ValueError("the treatments must differ and include the baseline")
    keys = (baseline, *sorted(key for key in infos if key != baseline))
    outcomes = {key: count_outcomes(runs, key) for key in keys}
    sound = [key for key in keys if key == baseline or not set(outcomes[key]) - {Outcome.OK}]
    effects: list[Effect] = []
    responses: list[ResponseSummary] = []
    measures = dict.fromkeys(name for run in runs for name in run.measures)
    race = _race(runs, keys, settings)
    for response in (*RESPONSES, *measures):
        found, summary = _response(runs, response, sound, settings)
        if race is not None and response == settings.race and len(found) > 1:
            found, summary = raced_effects(race, found), raced_summary(race, summary)
        effects += found
        responses.append(summary)
    entrants = _entrants(runs, keys, outcomes, effects)
    rule = Rule(settings.margin, settings.cap_bytes, responses[0].blocks, settings.judges_memory)
    front = _front(entrants, rule)
    if settings.exact:
        verdict = decide_exact(runs, sound, settings.margin)
    elif race is None or settings.race is None:
        verdict = decide(entrants[0], entrants[1:], front, rule)
    else:
        raced = [Raced(each, _span(effects, each.key, settings.race)) for each in entrants[1:]]
        verdict = decide_race(race, settings.race, entrants[0], raced, rule)
    if verdict.action == "switch" and verdict.allocator is not None:
        chosen = infos[verdict.allocator, verdict.level]
        wins = (
            INSTRUCTIONS
            if settings.exact
            else settings.race or winning(effects, chosen.key, settings.margin)
        )
        notes = switch_notes(chosen, [infos[key] for key in keys], effects, wins)
        verdict = verdict.model_copy(
            update={
                "how": how_to_apply(chosen, invocation),
                "notes": (*verdict.notes, *notes),
            }
        )
    return Analysis(
        tuple(effects),
        tuple(responses),
        tuple(label_of(*key) for key in front),
        verdict,
        None if race is None else race_summary(race),
    )


def _race(runs: Sequence[Run], keys: Sequence[Key], settings: Settings) -> Race | None:
    """The race that the runs were, if it was one."""
    if settings.race is None or len(keys) < 2:
        return None
    rules = Rules(settings.margin, settings.level)
    reading = Reading(settings.race, settings.cap_bytes, settings.judges_memory)
    return race_of(runs, keys, rules, reading)


def _span(effects: Sequence[Effect], key: Key, response: Response) -> Span | None:
    found = (Span.of(each) for each in effects if each.key == key and each.response == response)
    return next(found, None)


def _response(
    runs: Sequence[Run], response: Response, sound: Sequence[Key], settings: Settings
) -> tuple[list[Effect], ResponseSummary]:
    """One response: its effects, the baseline's own included, and how they were found."""
    cells = tabulate(runs, response, sound)
    usable = comparable(cells)
    own = np.exp(cells.log_values[cells.seen[:, 0], 0])
    empty = ResponseSummary(
        response=response,
        unit=unit_of(response),
        baseline_value=float(np.exp(np.log(own).mean())) if own.size else None,
        baseline_low=float(own.min()) if own.size else None,
        baseline_high=float(own.max()) if own.size else None,
        method="none",
        level=settings.level,
        blocks=0,
        df=0,
        residual_sd=None,
    )
    if reason := _no_analysis(runs, response, cells, usable, settings):
        alone = [_reference(sound[0], response, own.size)] if own.size else []
        return alone, empty.model_copy(update={"notes": (reason,)})
    model = fit(usable)
    intervals = simultaneous(model, settings.level, settings.seed)
    letters = _letters(model, intervals)
    summary = empty.model_copy(
        update={
            "method": intervals.method,
            "critical_value": intervals.critical,
            "blocks": model.blocks,
            "df": model.df,
            "residual_sd": model.sigma if model.df else None,
            "anova": model.anova,
            "notes": _notes(model, sound, intervals),
        }
    )
    return _effects(response, model, intervals, letters), summary


def _letters(model: BlockedFit, intervals: Intervals) -> list[str]:
    """Compact letters from the intervals; none where there is no scatter to judge by."""
    if model.df == 0:
        return [""] * len(model.treatments)
    return compact_letters(model.effects.tolist(), apart(intervals.low, intervals.high))


def _reference(key: Key, response: Response, runs: int) -> Effect:
    """The baseline's own effect where there is nothing else."""
    return Effect(
        allocator=key[0],
        level=key[1],
        response=response,
        ratio=1,
        low=1,
        high=1,
        group="",
        runs=runs,
    )


def _effects(
    response: Response, model: BlockedFit, intervals: Intervals, letters: Sequence[str]
) -> list[Effect]:
    def bound(value: float) -> float | None:
        if abs(value) < NO_SCATTER:
            return 1.0
        with np.errstate(over="ignore", under="ignore"):
            ratio = float(np.exp(value))
        return ratio if 0 < ratio < np.inf else None

    return [
        Effect(
            allocator=key[0],
            level=key[1],
            response=response,
            ratio=float(np.exp(model.effects[number])),
            low=bound(intervals.low[number]),
            high=bound(intervals.high[number]),
            group=letters[number],
            runs=int(model.runs[number]),
        )
        for number, key in enumerate(model.treatments)
    ]


def _no_analysis(
    runs: Sequence[Run], response: Response, cells: Cells, usable: Cells, settings: Settings
) -> str:
    """Why there is nothing to fit; empty if there is."""
    if response == "memory" and not settings.judges_memory:
        return "not compared, because the runs did not write into their memory"
    if not cells.seen[:, 0].any():
        return "the baseline has no good run with this figure"
    if len(usable.treatments) < 2:
        return "no other treatment has a good run in a block with the baseline"
    measured = (run for run in runs if run.outcome is Outcome.OK and not run.warmup)
    if response == "cpu" and any(value_of(run, response) is None for run in measured):
        return "some runs used less processor time than the clock resolves"
    return ""


def _notes(model: BlockedFit, sound: Sequence[Key], intervals: Intervals) -> tuple[str, ...]:
    """Name what is degenerate about the data."""
    notes = []
    if model.df == 0:
        notes.append("too few blocks to see scatter: point estimates only, no intervals")
    elif model.sigma == 0:
        notes.append("no scatter at all: every block shows the same ratios")
    elif intervals.method == "dunnett-t" and scatter_is_unequal(model):
        notes.append(
            "some treatments scatter more than others, and intervals from fewer than "
            f"{FEWEST_BOOTSTRAP_BLOCKS} blocks do not allow for that: too narrow for these"
        )
    single = [key for key, n in zip(model.treatments, model.runs, strict=True) if n == 1]
    if model.blocks > 1:
        notes += [
            f"{label_of(*key)} has one good run: its interval relies on the scatter of the others"
            for key in single
        ]
    apart = [key for key in sound if key not in model.treatments]
    notes += [f"{label_of(*key)} has no good run to compare with the baseline" for key in apart]
    return tuple(notes)


def _entrants(
    runs: Sequence[Run],
    keys: Sequence[Key],
    outcomes: Mapping[Key, Mapping[Outcome, int]],
    effects: Sequence[Effect],
) -> list[Entrant]:
    """The input of the verdict, the baseline first."""
    found = {(effect.key, effect.response): effect for effect in effects}

    def entrant(key: Key) -> Entrant:
        time, memory = found.get((key, "time")), found.get((key, "memory"))
        mine = (r for r in runs if (r.allocator, r.level) == key and r.outcome is Outcome.OK)
        peaks = [run.peak_rss_bytes for run in mine if run.peak_rss_bytes is not None]
        return Entrant(
            key=key,
            time=Span.of(time) if time else None,
            memory=Span.of(memory) if memory else None,
            groups=(time.group if time else "", memory.group if memory else ""),
            peak_bytes=max(peaks, default=None),
            outcomes=outcomes[key],
        )

    return [entrant(key) for key in keys]


def _front(entrants: Sequence[Entrant], rule: Rule) -> tuple[Key, ...]:
    """The front of those without a bad outcome that stay under the cap."""
    points = [
        Point(entrant.key, entrant.time, entrant.memory)
        for entrant in entrants
        if not entrant.bad and entrant.fits(rule.cap_bytes) and entrant.time and entrant.memory
    ]
    return shown_front(points, rule.margin)
