# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The sentences of an explanation, one for each kind of finding."""

from dataclasses import dataclass

from heapwright.artefacts.explanation.document import Ending, Finding, Moment, Setting
from heapwright.artefacts.profile.series import SystemSample
from heapwright.artefacts.run.foreign_heaps import ForeignHeap, Interpreter
from heapwright.base.quantities import several, size

GIB = 1 << 30
MINUTE, HOUR, DAY = 60, 3600, 86400
NO_CALLS = (
    "the recorder saw no call of malloc: the program is linked statically, brings an allocator of "
    "its own, or allocates nothing"
)
NEARLY_ALL = 0.99
SEARCH = "heapwright explain -- COMMAND searches for pointers"


@dataclass(frozen=True, slots=True)
class Part:
    """The part of one place of the program in a leak or a growth."""

    place: str
    """Empty: not known."""
    share: float
    """Of all bytes, from 0 to 1."""
    rate: float | None = None
    """Bytes per second; None: it did not continue."""


def leak(blocks: int, lost: int, *, pace: str, first: Part | None, largest: Part | None) -> str:
    """Blocks that no pointer leads to.

    `first` is the first place of the answer, and `largest` the one that lost most bytes.
    """
    what = f"Leak: no pointer leads to {size(lost)} in {several(blocks, 'block')}"
    if first and first.rate and largest and first.place != largest.place:
        return (
            f"{what}; {first.place} goes on losing {pace_of(first.rate)}; "
            f"{_quantity(largest.share)} of what was lost comes from {largest.place}."
        )
    return f"{what}{pace}{_from(largest)}."


def pace_of_loss(rate: float | None, *, short: bool) -> str:
    """Whether the loss goes on, and how fast. A short run does not show it."""
    if rate:
        return f", lost at {pace_of(rate)}"
    return "" if short else "; none was lost later in the run"


def perhaps_lost(blocks: int, lost: int, allocator: str) -> str:
    """The places of a leak also did not free other blocks."""
    return (
        f"Perhaps {size(lost)} in {several(blocks, 'block')} are lost: the same places never freed "
        f"the others either, and old pointers in memory of {allocator} may lead to them."
    )


def lost_once(blocks: int, lost: int) -> str:
    """A loss that is too small to be a leak."""
    return f"Lost once: no pointer leads to {size(lost)} in {several(blocks, 'block')}."


def growth(rise: int, rate: float | None, *, fate: str, largest: Part | None) -> str:
    """Live memory that rises until the end; `largest` is the place that grows most."""
    pace = f", lately by {pace_of(rate)}" if rate else ""
    return (
        f"Growth: the program keeps more and more; live memory rose by {size(rise)}{pace}"
        f"{_from(largest)}; {fate}."
    )


def searched_fate(*, lost: bool, kept: bool, ending: Ending) -> str:
    """The fate of the grown memory, after a search for pointers."""
    if lost:
        return "this part was freed, or pointers still led to it, at the end"
    if ending is Ending.RUNNING:
        return "nothing was lost: pointers still lead to all of it"
    return (
        "nothing was lost: it was never freed, and pointers still led to it at the end"
        if kept
        else "nothing was lost: it was freed at the end, or pointers still led to it"
    )


def unsearched_fate(ending: Ending, *, suspected: bool) -> str:
    """The sentence on growth without a search for pointers."""
    if ending is Ending.EXITED and not suspected:
        return "it was freed at the end"
    how = {
        Ending.EXITED: "it was never freed",
        Ending.KILLED: "the program was killed",
        Ending.RUNNING: "the program still runs",
        Ending.UNKNOWN: "how the program ended is not known",
    }[ending]
    leaks = "perhaps it is a leak: " if suspected else ""
    return f"{leaks}{how}, and a trace does not tell whether pointers still led to it ({SEARCH})"


def retention(allocator: str, worst: Moment, setting: Setting | None) -> str:
    """Memory that the allocator holds; `worst` is the late sample with the most."""
    text = (
        f"Retention: {allocator} held {size(worst.held_bytes or 0)} that the program had "
        f"freed while {size(worst.live_bytes)} were live"
    )
    if setting is None:
        return f"{text}."
    named = " ".join(f"{name}={value}" for name, value in setting.assignments.items())
    return f"{text}; {setting.why}{f': set {named}' if named else ''}."


def elsewhere(
    most: SystemSample | Moment, runtime: ForeignHeap | None, *, rise: int, rate: float | None
) -> str:
    """Memory outside of malloc; `most` is the sample with the most."""
    what = (
        f"most is {runtime.runtime}'s own heap ({runtime.heap})"
        if runtime
        else "code, stacks, and mappings of the program's own"
    )
    grew = f" It grew by {size(rise)}" if rise > 0 else ""
    pace = f", lately by {pace_of(rate)}" if grew and rate else ""
    look = f" To look inside: {runtime.advice}." if runtime else ""
    return (
        f"Elsewhere: {size(most.other_bytes or 0)} of {size(most.resident_bytes or 0)} resident "
        f"are not malloc's: {what}; {size(most.live_bytes)} were live in malloc."
        f"{grew}{pace}{'.' if grew else ''}{look}"
    )


def steady(
    peak: int, held: int | None, *, never_freed: int, runtime: ForeignHeap | None = None
) -> str:
    """No finding."""
    most = f", and the allocator held {size(held)} beyond it at most" if held is not None else ""
    left = f" {size(never_freed)} were never freed, and did not grow." if never_freed else ""
    own = f" Objects in {runtime.runtime}'s own heap are not counted." if runtime else ""
    return (
        f"Steady: no leak, no retention, no growth; {size(peak)} were live at most{most}."
        f"{left}{own}"
    )


def native_places(interpreter: Interpreter, place: str) -> str:
    """The place is a function of an interpreter, or of an extension, not of the script."""
    what = place.partition(" (")[0]
    return (
        f"The program runs a script in {interpreter.language}: {what} is native code of the "
        f"interpreter or of an extension, and {interpreter.tool}."
    )


def no_symbols(place: str) -> str:
    """The place is an address."""
    file = place.partition("+0x")[0]
    return f"The debug symbols of {file} would name the function: compile it with -g."


def no_sample(step: int) -> str:
    """Why a recording of one block in `step` shows nothing."""
    return (
        f"no sample was taken: one block in {step:,} is recorded, and the calls for the other "
        "blocks are not counted"
    )


def one_of(process: str, count: int) -> str:
    """Which process of several an explanation is about."""
    return f"This is process {process}, one of {count} that allocated memory."


def also_loses(process: str, found: Finding) -> str:
    """Another process with a leak."""
    pace = f", about {size(round(found.rate_bytes_per_s))}/s" if found.rate_bytes_per_s else ""
    return f"Process {process} loses memory as well: {size(found.bytes)}{pace}."


def more_lose(count: int) -> str:
    """Further processes with a leak, which have no sentence."""
    loses = "loses" if count == 1 else "lose"
    return f"{several(count, 'more process', 'more processes')} {loses} memory as well."


def unknown(why: str) -> str:
    """The recording lacks the needed data."""
    return f"Cannot tell, because {why}."


def also_blind(why: str) -> str:
    """Findings may be missing."""
    return f"There may be more, because {why}."


def pace_of(rate: float) -> str:
    """`about 1.0 MiB/s (1 GiB in 17 minutes)`."""
    seconds = GIB / rate
    if seconds >= 2 * DAY:
        ahead = f"{size(round(rate * DAY))} a day"
    elif seconds >= 2 * HOUR:
        ahead = f"1 GiB in {seconds / HOUR:.0f} hours"
    elif seconds >= 2 * MINUTE:
        ahead = f"1 GiB in {seconds / MINUTE:.0f} minutes"
    else:
        ahead = f"1 GiB in {seconds:.2g} s" if seconds < 10 else f"1 GiB in {seconds:.0f} s"
    return f"about {size(round(rate))}/s ({ahead})"


def _from(largest: Part | None) -> str:
    if largest is None or not largest.place:
        return ""
    all_or_most = f"{_quantity(largest.share)}{' of it' if largest.share > NEARLY_ALL else ''}"
    return f"; {all_or_most} comes from {largest.place}"


def _quantity(share: float) -> str:
    if share > NEARLY_ALL:
        return "all" if share == 1 else "nearly all"
    return "most" if share >= 0.5 else "the largest part"
