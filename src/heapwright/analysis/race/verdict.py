# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What to do after a race, decided or not.

    decided for a candidate          switch to it
    decided for the baseline         stay
    not decided, baseline beaten,
      the leader surely better,
      it seems so beyond the margin  switch to the leader; the other contenders may be as good
    not decided, baseline in         stay, because no difference was shown, once there is a bound
                                     to what another candidate gains; undecided before

An answer without a decision states how far from the best its candidate is at most.

Time decides. Memory is reported beside it. The memory cap excludes candidates from the race.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from heapwright.analysis.race.race import Race
from heapwright.analysis.race.runs import Deciding
from heapwright.analysis.ratio_text import (
    Span,
    change_in_words,
    listed,
    memory_in_words,
    percent_text,
    time_in_words,
)
from heapwright.analysis.verdict import Entrant, Rule, notes_on_baseline, stay, undecided
from heapwright.artefacts.comparison.document import Key, Verdict, label_of

MORE_TIME = "To go on longer, give a larger --budget, or fewer candidates with -a"


@dataclass(frozen=True, slots=True)
class Raced:
    """A treatment after a race: `deciding` is the span of the figure that decides."""

    entrant: Entrant
    deciding: Span | None


def decide_race(
    race: Race, figure: Deciding, baseline: Entrant, others: Sequence[Raced], rule: Rule
) -> Verdict:
    """The verdict on `others` against `baseline`."""
    notes = notes_on_baseline(baseline, rule)
    raced = {other.entrant.key: other for other in others}
    entrants = [other.entrant for other in others]
    if race.ending is None:
        return _without_ending(race, figure, baseline, raced, rule, notes)
    if race.ending.named != race.baseline:
        return _switch(race, figure, raced, rule, notes)
    if race.ending.others:
        return _keep(race, "No difference that matters", notes)
    return stay(baseline, entrants, rule, notes)


def _without_ending(  # noqa: PLR0913, PLR0917 - the whole state of the race
    race: Race,
    figure: Deciding,
    baseline: Entrant,
    raced: Mapping[Key, Raced],
    rule: Rule,
    notes: Sequence[str],
) -> Verdict:
    """The verdict when the runs or the time ended before a decision."""
    contenders = [raced[key] for key in race.contenders if key in raced]
    if not contenders:
        return stay(baseline, [each.entrant for each in raced.values()], rule, notes)
    advised = race.advised
    if advised is not None and advised != race.baseline:
        return _switch(race, figure, raced, rule, notes)
    most = None if advised is None else race.shortfall(advised)
    if most is None:
        blocks = "1 block is" if race.blocks == 1 else f"{race.blocks} blocks are"
        return undecided(f"{blocks} too few to decide", MORE_TIME, *notes)
    limit = f"nothing is more than {_gain(most)} better"
    looks = _looks_better(contenders, figure, rule)
    return _keep(race, f"No difference shown, {limit}", [*looks, *notes])


def _switch(
    race: Race, figure: Deciding, raced: Mapping[Key, Raced], rule: Rule, notes: Sequence[str]
) -> Verdict:
    best = raced[race.leader if race.ending is None else race.ending.named]
    entrant = best.entrant
    told = []
    rest = [label_of(*key) for key in race.contenders if key not in {entrant.key, race.baseline}]
    if rest:
        told.append(_others_in_the_race(race, entrant.key, rest, rule))
    if rule.judges_memory and rule.loses(entrant.memory):
        told.append("it needs more memory: --cap keeps out what peaks too high")
    return Verdict(
        action="switch",
        allocator=entrant.key[0],
        level=entrant.key[1],
        reason=f"Switch to {entrant.label}: {_figures(best, figure, rule)}",
        notes=(*told, *notes),
    )


def _others_in_the_race(race: Race, named: Key, rest: Sequence[str], rule: Rule) -> str:
    """What the race showed of the candidates that it did not drop."""
    if race.ending is not None:
        better = f"more than {percent_text(rule.margin)} better" if rule.margin else "better"
    else:
        most = race.shortfall(named)
        if most is None:
            return f"{listed(rest)} may be as good"
        better = f"more than {_gain(most)} better"
    if len(rest) == 1:
        return f"{rest[0]} is not {better}, and may be slower"
    return f"{listed(rest)}: none of them is {better}, and they may be slower"


def _keep(race: Race, why: str, notes: Sequence[str]) -> Verdict:
    name, level = race.baseline
    return Verdict(
        action="stay",
        allocator=name,
        level=level,
        reason=f"{why}: keep {label_of(name, level)}",
        notes=tuple(notes),
    )


def _gain(shortfall: float) -> str:
    """What the best saves at most beside a candidate with this shortfall, rounded up."""
    return percent_text(math.ceil(100 * shortfall / (1 + shortfall)) / 100)


def _looks_better(contenders: Sequence[Raced], figure: Deciding, rule: Rule) -> list[str]:
    """The contender that looks best, if it does by more than the margin."""

    def ratio(each: Raced) -> float:
        return each.deciding.ratio if each.deciding is not None else math.inf

    best = min(contenders, key=lambda each: (ratio(each), each.entrant.key))
    if ratio(best) >= 1 - rule.margin:
        return []
    label = best.entrant.label
    return [
        f"{label} looks best, but more runs would have to show it: "
        f"{_figures(best, figure, rule)}. {MORE_TIME}"
    ]


def _figures(raced: Raced, figure: Deciding, rule: Rule) -> str:
    """ "8 % less processor time (6 to 10), 7 % faster (3 to 11), 12 % less memory (10 to 14)"."""
    entrant, parts = raced.entrant, []
    if figure == "cpu" and raced.deciding is not None:
        words = ("less processor time", "more processor time")
        parts.append(change_in_words(raced.deciding, rule.margin, *words))
    if entrant.time is not None:
        parts.append(time_in_words(entrant.time, rule.margin))
    if entrant.memory is not None and rule.judges_memory:
        parts.append(memory_in_words(entrant.memory, rule.margin))
    return ", ".join(parts)
