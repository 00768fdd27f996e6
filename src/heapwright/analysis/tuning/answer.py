# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The answer of a search in words: what to set, or to keep the default, and what had no effect."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from heapwright.analysis.ratio_text import (
    Span,
    change_in_words,
    listed,
    memory_in_words,
    percent_text,
    time_in_words,
)
from heapwright.analysis.tuning.screen import ACTIVE_LEVEL, Screen, Term
from heapwright.analysis.tuning.search import Search
from heapwright.analysis.tuning.space import Cell
from heapwright.artefacts.tuning.document import (
    Action,
    Answer,
    Candidate,
    Confirmed,
    Interaction,
    Ratio,
    SettingResult,
)
from heapwright.base.quantities import several

NAMES = {
    "time": "wall time",
    "cpu": "processor time",
    "memory": "peak memory",
    "idle": "idle memory",
}
"""Of the figures of every run. Others are measures of a program, and have their own names."""
KEEP = "Keep the default settings"
UNDECIDED = "Undecided, so keep the default settings"
UP_TO = 1000
"""Percentages beyond this say nothing."""


@dataclass(frozen=True, slots=True)
class Figures:
    """The figure that is made small, and the one under the cap."""

    objective: str
    other: str


def change_text(figure: str, span: Span, margin: float) -> str:
    """Such as "5 % less processor time (4 to 6)"."""
    if figure == "memory":
        return memory_in_words(span, margin)
    if figure == "time":
        return time_in_words(span, margin)
    name = NAMES.get(figure, figure)
    text = change_in_words(span, margin, f"less {name}", f"more {name}")
    return text if name in text else f"{name} {text}"


def answer_of(
    search: Search,
    figures: Figures,
    variables: Callable[[Cell], dict[str, str]],
    *,
    stopped: str = "",
    notes: Sequence[str] = (),
) -> Answer:
    """The answer of a search. `stopped` says why an unfinished one ended; `notes` come first."""
    action, cell, reason = _decision(search, figures, stopped)
    return Answer(
        action=action,
        settings=dict(search.space.given(cell)),
        variables=variables(cell),
        reason=reason,
        notes=(*notes, *_notes(search, figures)),
    )


def _decision(search: Search, figures: Figures, stopped: str) -> tuple[Action, Cell, str]:
    default, found = search.space.default, search.confirmation
    if stopped:
        return "undecided", default, f"The search is not finished ({stopped}): {_so_far(search)}"
    if found is None and search.too_noisy:
        return "undecided", default, _too_noisy(search)
    margin = percent_text(search.rules.margin)
    if found is None:
        return "keep", default, f"{KEEP}: none was {margin} better in the search"
    label, told = search.space.label(search.winner), _measured(search, figures)
    if found.judgement == "better":
        return "set", search.winner, f"Set {label}: {told}"
    if found.judgement == "unclear":
        why = f"the runs differ too much to judge {label}: {told}"
        return "undecided", default, f"{UNDECIDED}: {why}"
    why = {
        "failed": f"the program failed with {label}",
        "over the cap": f"{label} is over the cap, or too near to it: {told}",
    }.get(
        found.judgement,
        f"fresh runs did not show a gain of more than {margin} for {label}: {told}",
    )
    return "keep", default, f"{KEEP}: {why}"


def _measured(search: Search, figures: Figures) -> str:
    found, margin = search.confirmation, search.rules.margin
    parts = []
    if found is not None and found.objective is not None:
        parts.append(change_text(figures.objective, found.objective, margin))
    if found is not None and found.other is not None:
        parts.append(change_text(figures.other, found.other, margin))
    return ", ".join(parts) or "there is no figure"


def _too_noisy(search: Search) -> str:
    gain = _percent(search.visible)
    why = "runs of the same settings differ too much to judge"
    return f"{UNDECIDED}: {why}. A gain below {gain} would not show"


def _so_far(search: Search) -> str:
    winner = search.winner
    if winner == search.space.default and search.rounds:
        last = search.rounds[-1]
        if last.race.blocks:
            winner = last.cells[last.race.leader]
    ratio = search.looks_like(winner)
    if winner == search.space.default or ratio is None or ratio >= 1:
        return "nothing looks better than the default so far"
    label = search.space.label(winner)
    return f"best so far {label}, by about {_percent(1 - ratio)}, not confirmed"


def _notes(search: Search, figures: Figures) -> Iterator[str]:
    if search.screen is not None:
        name = NAMES.get(figures.objective, figures.objective)
        yield from _without_effect(search, search.screen, name)
        curve = search.screen.curvature
        limit = math.log1p(search.rules.margin)
        if curve is not None and curve.p < ACTIVE_LEVEL and abs(curve.effect) > limit:
            change = math.expm1(curve.effect)
            where = "above" if change > 0 else "below"
            yield (
                f"with all settings at their middle level, {name} is {_percent(abs(change))} "
                f"{where} the mean of the ends. Search a setting again with more levels"
            )
        if search.screen.disturbed:
            runs = several(search.screen.disturbed, "run")
            yield f"far from the other runs, so with less weight in the screening: {runs}"
    if search.failed:
        yield f"the program failed in {several(len(search.failed), 'combination')}"


def _without_effect(search: Search, screen: Screen, figure: str) -> Iterator[str]:
    """The settings that the search did not refine, with the effect that they have at most."""
    surely, seen = [], []
    for place, factor in enumerate(search.space.factors):
        most = screen.main(place).most
        if place not in search.active and most <= math.log1p(search.rules.margin):
            surely.append(factor.name)
        elif place not in search.active and math.isfinite(most):
            seen.append(f"{factor.name} may have up to {_percent(math.expm1(most))}")
    if surely:
        margin = percent_text(search.rules.margin)
        yield f"no effect of more than {margin} on {figure}: {listed(surely)}"
    if seen:
        yield f"not measured precisely: {listed(seen)}"


def _percent(share: float) -> str:
    return f"{min(100 * share, UP_TO):.2g} %"


def setting_results(
    search: Search, defaults: dict[str, str], restart: dict[str, bool]
) -> tuple[SettingResult, ...]:
    """The settings as the document has them."""
    found = []
    for place, factor in enumerate(search.space.factors):
        term = None if search.screen is None else search.screen.main(place)
        found.append(
            SettingResult(
                name=factor.name,
                levels=factor.levels,
                default=defaults[factor.name],
                effect=None if term is None else _effect(term),
                sum_of_squares=None if term is None else term.squares,
                p=None if term is None else term.p,
                active=place in search.active,
                restart=restart[factor.name],
            )
        )
    return tuple(found)


def _effect(term: Term) -> Ratio:
    bounded = math.isfinite(term.low)
    return Ratio(
        ratio=math.exp(term.effect),
        low=math.exp(term.low) if bounded else None,
        high=math.exp(term.high) if bounded else None,
    )


def interactions(search: Search) -> tuple[Interaction, ...]:
    """The interactions that the screening showed."""
    screen = search.screen
    if screen is None:
        return ()
    names = [factor.name for factor in search.space.factors]
    found = []
    for term in screen.terms:
        if term.pairs and term.p < ACTIVE_LEVEL and abs(term.effect) > search.least_effect:
            pair = screen.believed(term)
            rest = tuple((names[a], names[b]) for a, b in term.pairs if (a, b) != pair)
            found.append(
                Interaction(
                    settings=(names[pair[0]], names[pair[1]]),
                    effect=math.exp(term.effect),
                    sum_of_squares=term.squares,
                    p=term.p,
                    aliases=rest,
                )
            )
    return tuple(found)


def candidates(search: Search) -> tuple[Candidate, ...]:
    """Everything that was raced, once, the best first."""
    found: dict[Cell, Candidate] = {}
    for this in search.rounds:
        gone = {each.key: each.why for each in this.race.departures}
        for key, cell in this.cells.items():
            if cell != search.space.default:
                found[cell] = Candidate(
                    settings=dict(search.space.given(cell)),
                    ratio=search.looks_like(cell),
                    left=gone.get(key, ""),
                )
    return tuple(sorted(found.values(), key=lambda each: each.ratio or math.inf))


def confirmed_of(search: Search) -> Confirmed | None:
    """The confirmation as the document has it."""
    found = search.confirmation
    if found is None:
        return None
    return Confirmed(
        settings=dict(search.space.given(search.winner)),
        pairs=found.pairs,
        objective=_ratio(found.objective),
        other=_ratio(found.other),
        judgement=found.judgement,
    )


def _ratio(span: Span | None) -> Ratio | None:
    if span is None:
        return None
    bounded = span.bounded
    return Ratio(
        ratio=span.ratio, low=span.low if bounded else None, high=span.high if bounded else None
    )
