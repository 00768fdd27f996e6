# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The one sentence of an explanation."""

from heapwright.artefacts.explanation.document import Culprit, Ending, Explanation, Kind, Moment
from heapwright.base.quantities import several, size

PLUMBING = ("operator new", "malloc", "calloc", "realloc", "std::", "__gnu_cxx::", "void* operator")
"""Frames that lead to memory in every program; the first other one is the place."""


def place(culprit: Culprit) -> str:
    """Where the program asked for the memory, in a word."""
    named = [frame for frame in culprit.frames if frame]
    own = [frame for frame in named if not frame.startswith(PLUMBING)]
    return next(iter(own or named), "")


def sentence(found: Explanation) -> str:
    """One sentence for a whole explanation (its own `sentence` is not looked at)."""
    return {
        Kind.LEAK: _leak,
        Kind.RETENTION: _retention,
        Kind.GROWTH: _growth,
        Kind.ELSEWHERE: _elsewhere,
        Kind.STEADY: _steady,
    }[found.kind](found)


def _leak(found: Explanation) -> str:
    reach = found.reachability
    if reach is not None:
        lost = (
            f"no pointer leads any more to {size(reach.unreachable_bytes)} in "
            f"{several(reach.unreachable_blocks, 'block')}"
        )
    elif found.ending is Ending.EXITED:
        were = "was" if found.never_freed_blocks == 1 else "were"
        lost = (
            f"{size(found.never_freed_bytes)} in {several(found.never_freed_blocks, 'block')} "
            f"{were} never freed"
        )
    else:
        lost = "blocks stay live of places that soon free most of theirs"
    rose = f"; live memory rose by {size(found.rise_bytes)}" if found.rise_bytes else ""
    return f"Leak: {lost}{rose}{_sites(found)}."


def _sites(found: Explanation) -> str:
    if not found.culprits:
        return ""
    first = found.culprits[0]
    where = place(first)
    if not where:
        return ""
    part = "most" if 2 * first.bytes >= _accounted(found) else "the largest part"
    return f"; {part} comes from {where} ({size(first.bytes)} in {several(first.blocks, 'block')})"


def _accounted(found: Explanation) -> int:
    """What the places are places of."""
    if found.kind is Kind.GROWTH:
        return found.rise_bytes
    if found.reachability is not None:
        return found.reachability.unreachable_bytes
    return found.never_freed_bytes


def _retention(found: Explanation) -> str:
    worst = _worst(found)
    text = (
        f"Retention: {found.allocator} held {size(worst.held_bytes or 0)} that the program had "
        f"freed while {size(worst.live_bytes)} were live"
    )
    if found.setting is None:
        return f"{text}."
    named = " ".join(f"{name}={value}" for name, value in found.setting.assignments.items())
    return f"{text}; {found.setting.why}{f': set {named}' if named else ''}."


def _worst(found: Explanation) -> Moment:
    """Of the last quarter of the time, which made it a retention."""
    begin, end = found.moments[0].time_s, found.moments[-1].time_s
    late = (moment for moment in found.moments if moment.time_s >= end - (end - begin) / 4)
    return max(late, key=lambda moment: moment.held_bytes or 0)


def _growth(found: Explanation) -> str:
    fate = {
        Ending.EXITED: "and was not lost: it was freed, or could still be reached, at the end",
        Ending.KILLED: "until the program was killed; whether it would have been freed cannot be "
        "told",
        Ending.RUNNING: "and the program still runs; whether it will be freed cannot be told",
        Ending.UNKNOWN: "; how the program ended is not known",
    }[found.ending]
    if found.reachability is not None and found.ending is not Ending.EXITED:
        fate = "and pointers still lead to it"
    text = (
        f"Growth: the program asked for more and more; live memory rose by {size(found.rise_bytes)}"
    )
    return f"{text} {fate}{_sites(found)}.".replace(" ;", ";")


def _elsewhere(found: Explanation) -> str:
    most = max(found.moments, key=lambda moment: moment.resident_bytes or 0)
    return (
        f"Elsewhere: {size(most.other_bytes or 0)} of {size(most.resident_bytes or 0)} resident "
        f"are not malloc's (code, stacks, mappings of the program's own); {size(most.live_bytes)} "
        "were live."
    )


def _steady(found: Explanation) -> str:
    most = max(found.moments, key=lambda moment: moment.live_bytes, default=None)
    peak = most.live_bytes if most else 0
    held = (
        f", and the allocator held {size(found.most_held_bytes)} beyond it at most"
        if found.most_held_bytes is not None
        else ""
    )
    return f"Steady: no leak, no retention, no growth; {size(peak)} were live at most{held}."
