# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What to do: switch, stay, or not decided, by the rule of docs/explanation/methods.md.

Let m be the margin of practical equivalence. A candidate wins a response if its whole interval lies
below 1 - m. It loses the response if the whole interval lies above 1 + m. It does not lose the
response if the interval ends at or below 1 + m. A candidate is

    clean       wins one response and does not lose the other   -> switch
    trade-off   wins one and loses the other                    -> undecided: trade-off
    beaten      can no longer win either: every low >= 1 - m    -> stay, if all are
    open        anything else                                   -> undecided: more blocks

A trade-off that is not on the front is skipped, because an open candidate beats it and is
considered instead. Candidates with a bad outcome or over the memory cap are never recommended. The
same is true of the baseline, so a bad baseline turns a "stay" into an "undecided". The answer
depends only on the intervals, not on order or units.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from heapwright.analysis.ratio_text import (
    Span,
    listed,
    memory_in_words,
    percent_text,
    size_text,
    time_in_words,
    within,
)
from heapwright.artefacts.comparison.document import Key, Verdict, label_of
from heapwright.artefacts.run.measured import Outcome
from heapwright.base.blocks_needed import MOST_BLOCKS_WORTH_NAMING, ratio_blocks_needed

Standing = Literal["clean", "trade-off", "beaten", "open"]


@dataclass(frozen=True, slots=True)
class Entrant:
    """The input of the rule for one treatment.

    time, memory   ratio to the baseline; None without good comparable runs
    groups         its compact letters in (time, memory)
    peak_bytes     the largest peak of its good runs
    outcomes       how its runs ended
    """

    key: Key
    time: Span | None = None
    memory: Span | None = None
    groups: tuple[str, str] = ("", "")
    peak_bytes: int | None = None
    outcomes: Mapping[Outcome, int] = field(default_factory=dict)

    @property
    def label(self) -> str:
        return label_of(*self.key)

    @property
    def good(self) -> int:
        return self.outcomes.get(Outcome.OK, 0)

    @property
    def bad(self) -> int:
        return sum(self.outcomes.values()) - self.good

    def fits(self, cap_bytes: int | None) -> bool:
        """Whether it may be advised under the cap; what was not measured does not fit."""
        return cap_bytes is None or (self.peak_bytes is not None and self.peak_bytes <= cap_bytes)


@dataclass(frozen=True, slots=True)
class Rule:
    """The settings of a verdict: margin m, memory cap, and the number of blocks behind it.

    Where memory is not judged, time alone decides.
    """

    margin: float
    cap_bytes: int | None
    blocks: int
    judges_memory: bool = True

    @property
    def beyond(self) -> str:
        """ " by more than 2 %"; empty without a margin."""
        return f" by more than {percent_text(self.margin)}" if self.margin else ""

    def wins(self, span: Span | None) -> bool:
        return span is not None and span.high < 1 - self.margin

    def loses(self, span: Span | None) -> bool:
        return span is not None and span.low > 1 + self.margin

    def keeps(self, span: Span | None) -> bool:
        """Does not lose beyond the margin."""
        return span is not None and span.high <= 1 + self.margin

    def cannot_win(self, span: Span | None) -> bool:
        return span is not None and span.low >= 1 - self.margin

    def standing(self, entrant: Entrant) -> Standing:
        time, memory = entrant.time, entrant.memory
        if not self.judges_memory:
            if self.wins(time):
                return "clean"
            return "beaten" if self.cannot_win(time) else "open"
        pairs = ((time, memory), (memory, time))
        if any(self.wins(one) and self.keeps(other) for one, other in pairs):
            return "clean"
        if any(self.wins(one) and self.loses(other) for one, other in pairs):
            return "trade-off"
        if self.cannot_win(time) and self.cannot_win(memory):
            return "beaten"
        return "open"

    def decides(self, span: Span | None) -> bool:
        """Neither limit lies within the interval: won, lost or equivalent."""
        return (
            self.wins(span) or self.loses(span) or (span is not None and within(span, self.margin))
        )

    def figures(self, entrant: Entrant) -> str:
        """ "8 % faster (6 to 10), 12 % less memory (10 to 14)"."""
        parts = []
        if entrant.time is not None:
            parts.append(time_in_words(entrant.time, self.margin))
        if entrant.memory is not None:
            parts.append(memory_in_words(entrant.memory, self.margin))
        return ", ".join(parts)


def decide(
    baseline: Entrant, others: Sequence[Entrant], front: Sequence[Key], rule: Rule
) -> Verdict:
    """The verdict on `others` against `baseline`; `front` is the Pareto front, fastest first."""
    if not others:
        return undecided(f"nothing was compared with {baseline.label}")
    if not baseline.good:
        return undecided(f"{baseline.label}, the baseline, has no good run to compare with")
    fitting = [entrant for entrant in others if not entrant.bad and entrant.fits(rule.cap_bytes)]
    standings = {entrant.key: rule.standing(entrant) for entrant in fitting}

    def having(standing: Standing) -> list[Entrant]:
        return sorted(
            (entrant for entrant in fitting if standings[entrant.key] == standing),
            key=lambda entrant: _preference(entrant, rule),
        )

    notes = notes_on_baseline(baseline, rule)
    if clean := having("clean"):
        return _switch(clean, having("trade-off"), rule, notes)
    if traded := [entrant for entrant in having("trade-off") if entrant.key in front]:
        return _trade_off(traded, front, rule, notes)
    if unsettled := having("open"):
        return _too_wide(unsettled, baseline, rule, notes)
    return stay(baseline, others, rule, notes)


def _preference(entrant: Entrant, rule: Rule) -> tuple[bool, float, float, Key]:
    """Winners of time by time, then winners of memory by memory; a total order."""
    time = entrant.time.ratio if entrant.time else math.inf
    memory = entrant.memory.ratio if entrant.memory else math.inf
    fast = rule.wins(entrant.time)
    return (not fast, time if fast else memory, memory if fast else time, entrant.key)


def _switch(
    clean: Sequence[Entrant], traded: Sequence[Entrant], rule: Rule, notes: Sequence[str]
) -> Verdict:
    best = clean[0]
    which = 0 if rule.wins(best.time) else 1
    ties = [
        other
        for other in clean[1:]
        if set(other.groups[which]) & set(best.groups[which])
        and rule.wins((other.time, other.memory)[which])
    ]
    response = ("time", "memory")[which]
    told = [f"{tie.label} ties with it in {response}: {rule.figures(tie)}" for tie in ties]
    told += [f"{other.label} is a trade-off: {rule.figures(other)}" for other in traded]
    return Verdict(
        action="switch",
        allocator=best.key[0],
        level=best.key[1],
        reason=f"Switch to {best.label}: {rule.figures(best)}",
        notes=(*told, *notes),
    )


def _trade_off(
    traded: Sequence[Entrant], front: Sequence[Key], rule: Rule, notes: Sequence[str]
) -> Verdict:
    best = traded[0]
    nature = "faster and fatter" if rule.wins(best.time) else "leaner and slower"
    others = [f"{other.label}: {rule.figures(other)}" for other in traded[1:]]
    edge = f"Pareto front, fastest first: {', '.join(label_of(*key) for key in front)}"
    return undecided(f"{best.label} is {nature}: {rule.figures(best)}", *others, edge, *notes)


def stay(baseline: Entrant, others: Sequence[Entrant], rule: Rule, notes: Sequence[str]) -> Verdict:
    """No candidate can win; check whether the baseline itself can be recommended."""
    why = _why_stay(others, rule)
    everyone = (baseline, *others)
    if rule.cap_bytes is not None and not any(
        each.fits(rule.cap_bytes) for each in everyone if not each.bad
    ):
        unfailing = " without failing" if any(each.bad for each in everyone) else ""
        return undecided(f"nothing stays under {size_text(rule.cap_bytes)}{unfailing}", *notes)
    if baseline.bad or not baseline.fits(rule.cap_bytes):
        fault = "failed too" if baseline.bad else "is over the memory cap"
        return undecided(f"{why[0].lower()}{why[1:]}, but {baseline.label} {fault}", *notes)
    return Verdict(
        action="stay",
        allocator=baseline.key[0],
        level=baseline.key[1],
        reason=f"{why}: stay with {baseline.label}",
        notes=tuple(notes),
    )


def _why_stay(others: Sequence[Entrant], rule: Rule) -> str:
    sound = [entrant for entrant in others if not entrant.bad]
    fitting = [entrant for entrant in sound if entrant.fits(rule.cap_bytes)]
    spans = [span for entrant in fitting for span in (entrant.time, entrant.memory) if span]
    if fitting and all(within(span, rule.margin) for span in spans):
        return "No difference that matters"
    if fitting:
        return f"Nothing is better{rule.beyond}"
    if sound:
        return f"Nothing else stays under {size_text(rule.cap_bytes or 0)} without failing"
    return f"{'The other' if len(others) == 1 else 'Every other'} allocator failed"


def _too_wide(
    unsettled: Sequence[Entrant], baseline: Entrant, rule: Rule, notes: Sequence[str]
) -> Verdict:
    """Name the most promising candidate, and how many blocks would tell."""
    known = [
        entrant
        for entrant in unsettled
        if entrant.time and (entrant.memory or not rule.judges_memory)
    ]
    if not known and (half := next((e for e in unsettled if e.time or e.memory), None)):
        lack = "peak memory" if half.time else "time"
        return undecided(f"the {lack} of {half.label} is not known: {rule.figures(half)}", *notes)
    if not known:
        names = listed([entrant.label for entrant in unsettled])
        lack = "has" if len(unsettled) == 1 else "have"
        return undecided(
            f"{names} {lack} no good run to compare with {baseline.label}",
            "more blocks would tell",
            *notes,
        )
    if not any(
        span.bounded for entrant in known for span in (entrant.time, entrant.memory) if span
    ):
        return undecided(
            f"{rule.blocks or 'no'} {'block' if rule.blocks == 1 else 'blocks'} cannot show how "
            "much the runs scatter",
            "run at least 3 blocks (-n 3), or go on until the intervals are narrow (--until 3%)",
            *notes,
        )
    best = min(known, key=lambda entrant: _promise(entrant, rule))
    return undecided(_what_is_open(best, baseline, rule), _what_would_settle(known, rule), *notes)


def _what_is_open(entrant: Entrant, baseline: Entrant, rule: Rule) -> str:
    """What is decided of the candidate, if something is, and what is not."""
    time, memory = entrant.time, entrant.memory
    if rule.judges_memory and time and memory and rule.decides(time):
        question = "needs more memory" if rule.wins(time) else "needs less memory"
        return (
            f"{entrant.label} is {time_in_words(time, rule.margin)}, but it is open whether it "
            f"{question}{rule.beyond}: {memory_in_words(memory, rule.margin)}"
        )
    if rule.judges_memory and time and memory and rule.decides(memory):
        question = "is slower" if rule.wins(memory) else "is faster"
        return (
            f"{entrant.label} needs {memory_in_words(memory, rule.margin)}, but it is open whether "
            f"it {question}{rule.beyond}: {time_in_words(time, rule.margin)}"
        )
    return (
        f"the intervals are too wide to say whether {entrant.label} or {baseline.label} is better"
        f"{rule.beyond}: {rule.figures(entrant)}"
    )


def _what_would_settle(unsettled: Iterable[Entrant], rule: Rule) -> str:
    """The number of blocks that would be enough if the figures stay.

    One clean candidate is enough. Without a likely one, all must be decided.
    """
    hopeful = [e for e in unsettled if _expected(e, rule) == "clean"]
    if hopeful:
        need = min(_blocks_needed(entrant, rule) for entrant in hopeful)
    else:
        need = max(_blocks_needed(entrant, rule) for entrant in unsettled)
    if need > MOST_BLOCKS_WORTH_NAMING:
        return (
            f"more than {MOST_BLOCKS_WORTH_NAMING} blocks would be needed if the figures stay: try "
            "a quieter machine, or another margin (--margin)"
        )
    return f"about {need:.0f} blocks (-n {need:.0f}) would settle it if the figures stay"


def _expected(entrant: Entrant, rule: Rule) -> Standing:
    """Where the candidate will stand if the estimates are right."""

    def point(span: Span | None) -> Span | None:
        return Span(span.ratio, span.ratio, span.ratio) if span else None

    return rule.standing(replace(entrant, time=point(entrant.time), memory=point(entrant.memory)))


def _promise(entrant: Entrant, rule: Rule) -> tuple[bool, float, float, Key]:
    """Those first that may turn out clean, then the fastest."""
    time = entrant.time.ratio if entrant.time else math.inf
    memory = entrant.memory.ratio if entrant.memory else math.inf
    return (_expected(entrant, rule) != "clean", time, memory, entrant.key)


def _blocks_needed(entrant: Entrant, rule: Rule) -> float:
    needed = rule.blocks + 1.0
    for span in (entrant.time, entrant.memory):
        if span is None or not span.bounded or span.low == span.high:
            continue
        limits = (1 - rule.margin, 1 + rule.margin)
        ends = (span.low, span.high)
        needed = max(needed, ratio_blocks_needed(rule.blocks, span.ratio, ends, limits))
    return math.ceil(needed) if math.isfinite(needed) else math.inf


def notes_on_baseline(baseline: Entrant, rule: Rule) -> list[str]:
    notes = []
    if baseline.bad:
        total = baseline.good + baseline.bad
        notes.append(f"{baseline.label} itself ended badly in {baseline.bad} of {total} runs")
    if not baseline.fits(rule.cap_bytes) and baseline.peak_bytes is not None:
        notes.append(
            f"{baseline.label} peaks at {size_text(baseline.peak_bytes)}, over the cap of "
            f"{size_text(rule.cap_bytes or 0)}"
        )
    return notes


def undecided(reason: str, *notes: str) -> Verdict:
    return Verdict(
        action="undecided", allocator=None, reason=f"Undecided: {reason}", notes=tuple(notes)
    )
