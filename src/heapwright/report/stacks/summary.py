# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The call stacks of another tool on a terminal: totals, live memory over time, largest holders."""

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from heapwright.artefacts.stacks.profile import Amount, Bounds, Moment, StackProfile
from heapwright.base.quantities import several
from heapwright.report.columns import Entries
from heapwright.report.profile import words
from heapwright.report.profile.summary import BLOCKS, CURVE, OVER_TIME
from heapwright.report.stacks.holders import COUNT_OF, holders

TOP = 8
CALLERS = 3


def print_stacks(console: Console, profile: StackProfile, *, quiet: bool = False) -> None:
    """Print the summary; `quiet` leaves one sentence."""
    if quiet:
        console.print(Text(sentence(profile)), soft_wrap=True)
        return
    drawn = console.encoding.startswith("utf")
    console.print(Entries([each for each in entries(profile) if drawn or each[0] != OVER_TIME]))


def sentence(profile: StackProfile) -> str:
    """The totals in one line."""
    return "; ".join(
        f"{_total(profile, amount)} {_subject(profile, amount)}"
        for amount in profile.ordered
        if amount.is_memory
    )


def entries(profile: StackProfile) -> Iterator[tuple[str, str]]:
    """What is reported, aspect by aspect."""
    command = " ".join(profile.command)
    yield "Format", f"{profile.source}{f': {command}' if command else ''}"
    for amount in profile.ordered:
        if amount.is_memory:
            yield _heading(profile, amount), _total(profile, amount)
    if profile.sampling:
        yield "Sampled", profile.sampling
    if len(profile.timeline) > 1 and profile.timeline[-1].time > 0:
        yield OVER_TIME, curve(profile.timeline)
    shown = [profile.main]
    if profile.variances:  # a sampled profile has both amounts of each site
        shown = [each for each in profile.ordered if each.is_memory and profile.total(each)]
    for amount in shown:
        yield from _largest(profile, amount)
    for note in profile.notes:
        yield "Note", note


def _largest(profile: StackProfile, amount: Amount) -> Iterator[tuple[str, str]]:
    """The stacks with most of an amount."""
    whole = max(profile.total(amount), 1)
    for holder in holders(profile, amount)[:TOP]:
        blocks = "" if holder.blocks is None else f" in {several(holder.blocks, 'block')}"
        yield (
            _heading(profile, amount),
            f"{words.memory(holder.bytes)}{_behind(holder.bounds)} "
            f"({words.share(holder.bytes / whole)}){blocks}: "
            + " ← ".join(holder.own[: CALLERS + 1]),
        )


def words_of(bounds: Bounds | None) -> str:
    """An interval; empty if there is none."""
    return f"{words.memory(bounds.low)} to {words.memory(bounds.high)}" if bounds else ""


def _behind(bounds: Bounds | None) -> str:
    """An interval behind its amount."""
    return f" [{words_of(bounds)}]" if bounds else ""


def _subject(profile: StackProfile, amount: Amount) -> str:
    return profile.words(amount).removesuffix(", bytes")


def _heading(profile: StackProfile, amount: Amount) -> str:
    text = _subject(profile, amount)
    return text[0].upper() + text[1:]


def _total(profile: StackProfile, amount: Amount) -> str:
    size = profile.total(amount)
    told = words.memory(size)
    if size >= 1024:
        told += f" ({size:,} bytes)"
    count = COUNT_OF[amount]
    told += _behind(profile.bounds(amount, size, profile.variances.get(amount, ())))
    return told + (
        f" in {several(profile.total(count), 'block')}" if count in profile.known else ""
    )


def curve(timeline: Sequence[Moment]) -> str:
    """Live memory over time as one line of blocks; the tallest is the peak."""
    end = max(timeline[-1].time, 1e-12)
    most = [0] * CURVE
    held, reached = 0, 0
    for moment in timeline:
        at = max(min(int(CURVE * moment.time / end), CURVE - 1), reached)
        for place in range(reached, at):
            most[place] = max(most[place], held)
        most[at] = max(most[at], held if at > reached else 0, moment.live_bytes)
        held, reached = moment.live_bytes, at
    top = max(*most, 1)
    scale = len(BLOCKS) - 1
    return "".join(BLOCKS[min(-(-value * scale // top), scale)] for value in most)
