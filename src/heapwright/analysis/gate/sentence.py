# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The answer of a gate as one sentence, which reads well on a terminal and in Markdown."""

import re
import shlex
from collections.abc import Sequence

from heapwright.analysis.gate.documents import Figure
from heapwright.analysis.ratio_text import (
    Span,
    change_in_words,
    listed,
    memory_in_words,
    percent_text,
    time_in_words,
)
from heapwright.artefacts.gate.document import Change, Shift

SPECIAL = re.compile(r"[_*\[\]<>|#~\\]")
_VERDICTS = {
    Change.BROKEN: "Broken",
    Change.SLOWER: "Slower",
    Change.LARGER: "Larger",
    Change.FASTER: "Faster",
    Change.SMALLER: "Smaller",
    Change.UNDECIDED: "Undecided",
    Change.SAME: "The same",
}


def finding(shift: Shift, figure: Figure, margin: float) -> str:
    """Such as "12 % slower (9 to 15)"; of another figure than time and memory with its name."""
    span = Span(shift.ratio or 1.0, shift.low or 0.0, shift.high or float("inf"))
    if figure.name == "time":
        return time_in_words(span, margin)
    if figure.name == "memory":
        return memory_in_words(span, margin)
    if not figure.less_is_better:
        less, more = "lower", "higher"
    else:
        less, more = ("faster", "slower") if figure.is_speed else ("less", "more")
    return f"{_code(figure.name)} {change_in_words(span, margin, less, more)}"


def sentence(shifts: Sequence[Shift], margin: float, moved: Sequence[Shift] = ()) -> str:
    """The whole, from findings in the order of their gravity. One line, without a full stop.

    `moved` are the common baselines that changed by themselves; the largest change is named if it
    is beyond the margin.
    """
    return f"{_verdict(shifts, margin)}{_itself(shifts[0], moved, margin)}"


def _itself(first: Shift, moved: Sequence[Shift], margin: float) -> str:
    told = (first.treatment, first.response)
    changes = [
        (100 * ((shift.ratio or 1) - 1), shift)
        for shift in moved
        if (shift.treatment, shift.response) != told
    ]
    change, shift = max(changes, key=lambda pair: abs(pair[0]), default=(0.0, None))
    if shift is None or abs(change) <= 100 * margin:
        return ""
    return f"; {shift.response} of {_code(shift.treatment)} itself is {change_text(shift.ratio)}"


def _verdict(shifts: Sequence[Shift], margin: float) -> str:
    first = shifts[0]
    verdict = _VERDICTS[first.change]
    if first.change is Change.SAME:
        return f"{verdict}: {_same(shifts, margin)}"
    alike = [shift for shift in shifts if shift.change is first.change]
    others = len(alike) - 1
    rest = f", and {others} more" if others else ""
    limit = "" if first.change is Change.BROKEN else f"; margin {percent_text(margin)}"
    settle = f", {_settle(alike)}" if first.change is Change.UNDECIDED else ""
    words = f"{first.words}{_relative(shifts[:1])}"
    return f"{verdict}: {_code(first.treatment)}: {words}{rest}{limit}{settle}"


def _same(shifts: Sequence[Shift], margin: float) -> str:
    if len(shifts) == 1:
        words = f"{shifts[0].words}{_relative(shifts)}"
        return f"{_code(shifts[0].treatment)}: {words}; margin {percent_text(margin)}"
    ranges = [
        _range(response, [shift for shift in shifts if shift.response == response])
        for response in dict.fromkeys(shift.response for shift in shifts)
    ]
    return f"{', '.join(ranges)}{_relative(shifts)}; margin {percent_text(margin)}"


def _range(response: str, shifts: Sequence[Shift]) -> str:
    """Such as "time of a and b is between 1.2 % less and 0.9 % more"."""
    treatments = listed([_code(each) for each in dict.fromkeys(s.treatment for s in shifts)])
    low = min(shift.low or 0.0 for shift in shifts)
    high = max(shift.high or 0.0 for shift in shifts)
    return f"{response} of {treatments} is between {change_text(low)} and {change_text(high)}"


def change_text(ratio: float | None) -> str:
    """A ratio as a change without a sign: "9.4 % more"; None counts as no change."""
    change = 100 * ((ratio or 1) - 1)
    return f"{abs(change):.1f} % {'less' if change < 0 else 'more'}"


def _relative(shifts: Sequence[Shift]) -> str:
    """What the figures are relative to, if they all are."""
    references = list(dict.fromkeys(shift.relative_to for shift in shifts))
    if not all(references):
        return ""
    named = _code(references[0]) if len(references) == 1 else "their baselines"
    return f" relative to {named}"


def _settle(undecided: Sequence[Shift]) -> str:
    needs = [shift.more_blocks for shift in undecided]
    if any(need is None for need in needs):
        if common := next((shift.doubted_by for shift in undecided if shift.doubted_by), ""):
            return f"and more blocks would not tell, but --absolute -a {shlex.quote(common)} would"
        return "and no reasonable number of blocks would tell: the change is about the margin"
    most = max(need for need in needs if need is not None)
    return f"{most} more block{'' if most == 1 else 's'} in each document would probably tell"


def _code(name: str) -> str:
    """A name with characters that Markdown reads is set as code."""
    return f"`{name}`" if SPECIAL.search(name) else name
