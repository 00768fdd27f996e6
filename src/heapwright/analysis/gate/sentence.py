# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The answer of a gate as one sentence, which reads well on a terminal and in Markdown."""

import re
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


def sentence(shifts: Sequence[Shift], margin: float) -> str:
    """The whole, from findings in the order of their gravity. One line, without a full stop."""
    first = shifts[0]
    verdict = _VERDICTS[first.change]
    if first.change is Change.SAME:
        return f"{verdict}: {_same(shifts, margin)}"
    alike = [shift for shift in shifts if shift.change is first.change]
    others = len(alike) - 1
    rest = f", and {others} more" if others else ""
    limit = "" if first.change is Change.BROKEN else f"; margin {percent_text(margin)}"
    settle = f", {_settle(alike)}" if first.change is Change.UNDECIDED else ""
    return f"{verdict}: {_code(first.treatment)}: {first.words}{rest}{limit}{settle}"


def _same(shifts: Sequence[Shift], margin: float) -> str:
    if len(shifts) == 1:
        return f"{_code(shifts[0].treatment)}: {shifts[0].words}; margin {percent_text(margin)}"
    treatments = listed([_code(each) for each in dict.fromkeys(s.treatment for s in shifts)])
    low = min(shift.low or 0.0 for shift in shifts)
    high = max(shift.high or 0.0 for shift in shifts)
    return (
        f"{listed(list(dict.fromkeys(s.response for s in shifts)))} of {treatments} changed by "
        f"{100 * (low - 1):+.1f} to {100 * (high - 1):+.1f} %; margin {percent_text(margin)}"
    )


def _settle(undecided: Sequence[Shift]) -> str:
    needs = [shift.more_blocks for shift in undecided]
    if any(need is None for need in needs):
        return "and no reasonable number of blocks would tell: the change is about the margin"
    most = max(need for need in needs if need is not None)
    return f"{most} more block{'' if most == 1 else 's'} in each document would probably tell"


def _code(name: str) -> str:
    """A name with characters that Markdown reads is set as code."""
    return f"`{name}`" if SPECIAL.search(name) else name
