# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Call stacks with amounts of memory, whichever tool found them.

Reports and exports read this form. `of_profile` makes it of a `Profile`, and `read.py` of a
file of another tool. An amount that the tool does not know is not in `known`, and is 0 in `calls`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from heapwright.artefacts.profile.calls import Call, Calls, Function
from heapwright.artefacts.profile.document import Profile
from heapwright.artefacts.stacks.intervals import interval

OWN = "heapwright"
LEFT_OUT = "outer calls left out"
NO_STACK = "no stack"


class Amount(StrEnum):
    """The amounts of a call stack, by their fields in `Call`."""

    BYTES = "bytes"
    ALLOCATIONS = "allocations"
    AT_PEAK_BYTES = "at_peak_bytes"
    AT_PEAK = "at_peak"
    KEPT_BYTES = "never_freed_bytes"
    KEPT = "never_freed"

    def of(self, call: Call) -> int:
        return int(getattr(call, self.value))

    @property
    def is_memory(self) -> bool:
        return self in (Amount.BYTES, Amount.AT_PEAK_BYTES, Amount.KEPT_BYTES)


ORDER = (
    *(Amount.AT_PEAK_BYTES, Amount.KEPT_BYTES, Amount.BYTES),
    *(Amount.AT_PEAK, Amount.KEPT, Amount.ALLOCATIONS),
)
"""A file is judged by the first that it has. Each format has one of memory."""
OF_PROFILE = {
    Amount.BYTES: "all allocations, bytes",
    Amount.ALLOCATIONS: "all allocations",
    Amount.AT_PEAK_BYTES: "live at the peak, bytes",
    Amount.AT_PEAK: "live at the peak",
    Amount.KEPT_BYTES: "never freed, bytes",
    Amount.KEPT: "never freed",
}
IN_USE = {
    Amount.KEPT_BYTES: "in use, bytes",
    Amount.KEPT: "in use",
}
"""Words for the live memory of a tool that writes its file while the program runs."""


class Moment(NamedTuple):
    """Live memory at one time of the run."""

    time: float
    live_bytes: int


class StackCourse(NamedTuple):
    """Live bytes of one stack at each of `StackProfile.moments_s`."""

    place: int
    """Its innermost call in `calls.nodes`."""
    live: tuple[int, ...]


class Bounds(NamedTuple):
    """An interval of an estimated amount."""

    low: int
    high: int


@dataclass(frozen=True, slots=True)
class StackProfile:
    """The call stacks of one run."""

    source: str
    """The tool and its format, as `massif`."""
    calls: Calls
    known: frozenset[Amount]
    at_end: bool = True
    """Whether `never_freed` is that: live at the end of the run. Otherwise live when the tool wrote
    the file."""
    command: tuple[str, ...] = ()
    began: str = ""
    duration_s: float = 0.0
    peak_s: float | None = None
    timeline: tuple[Moment, ...] = ()
    time_unit: str = "s"
    moments_s: tuple[float, ...] = ()
    courses: tuple[StackCourse, ...] = ()
    """Of the stacks whose live bytes are known at each moment."""
    has_offsets: bool = True
    """Whether the addresses of code are places in its file, and not those of its segments."""
    sampling: str = ""
    """What was sampled and how the amounts were scaled; empty: nothing was sampled."""
    notes: tuple[str, ...] = ()
    variances: Mapping[Amount, Mapping[int, float]] = field(default_factory=dict)
    """Of estimated bytes: the variance of each stack, by its innermost call in `calls.nodes`."""

    def total(self, amount: Amount) -> int:
        return amount.of(self.calls.nodes[0])

    @property
    def ordered(self) -> tuple[Amount, ...]:
        """The known amounts, those of memory first."""
        return tuple(each for each in ORDER if each in self.known)

    @property
    def main(self) -> Amount:
        """The amount of memory by which the file is judged."""
        return self.ordered[0]

    def bounds(self, amount: Amount, value: float, places: Iterable[int]) -> Bounds | None:
        """The 95 % interval of the amount of these stacks together; None if it was not sampled."""
        if amount not in self.variances:
            return None
        known = self.variances[amount]
        return Bounds(*map(round, interval(value, sum(known.get(each, 0.0) for each in places))))

    def words(self, amount: Amount) -> str:
        """What an amount is, for a reader."""
        return OF_PROFILE[amount] if self.at_end else {**OF_PROFILE, **IN_USE}[amount]


class Chain(NamedTuple):
    """A call stack that requested memory itself."""

    place: int
    """Its innermost call in `calls.nodes`; 0: no stack."""
    own: Call


def chains(calls: Calls) -> list[Chain]:
    """The stacks with amounts of their own: without those of the calls inside of them."""
    own = [list(node[3:]) for node in calls.nodes]
    for node in calls.nodes[1:]:
        outer = own[node.parent]
        for place, amount in enumerate(node[3:]):
            outer[place] -= amount
    return [
        Chain(place, Call(node.parent, node.code, node.address, *amounts))
        for place, (node, amounts) in enumerate(zip(calls.nodes, own, strict=True))
        if any(amounts)
    ]


def functions_at(calls: Calls, place: int) -> tuple[Function, ...]:
    """The functions of one call, outermost first; the address where nothing is named."""
    if place < len(calls.frames) and calls.frames[place]:
        return tuple(calls.functions[each] for each in calls.frames[place])
    node = calls.nodes[place]
    if node.code == len(calls.objects) + 1:
        return (Function(name=LEFT_OUT),)
    if node.code == len(calls.objects):
        return (Function(name=f"{node.address:#x}"),)
    name = calls.objects[node.code].path.rpartition("/")[2]
    return (Function(name=f"{name}+{node.address:#x}"),)


def stack_of(calls: Calls, place: int) -> list[Function]:
    """The functions of a stack, innermost first."""
    found: list[Function] = []
    while place:
        found += reversed(functions_at(calls, place))
        place = calls.nodes[place].parent
    return found


def of_profile(profile: Profile, calls: Calls) -> StackProfile:
    """The form of a `Profile`. `calls` are its calls."""
    origin = profile.provenance
    return StackProfile(
        source=OWN,
        calls=calls,
        known=frozenset(Amount),
        command=origin.command,
        began=origin.began,
        duration_s=origin.duration_s,
        peak_s=profile.peak.time_s,
        timeline=tuple(Moment(point.time_s, point.live_bytes) for point in profile.timeline),
        moments_s=profile.site_times_s,
        courses=tuple(
            StackCourse(site.call, site.live_over_time)
            for site in profile.sites
            if site.live_over_time
        ),
        sampling=(
            f"one block in {origin.sampled:,} was recorded; amounts are those of the recorded "
            "blocks"
            if origin.sampled > 1
            else ""
        ),
    )
