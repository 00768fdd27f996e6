# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Call stacks as a trace of Perfetto, in the form of its own heap profiler, heapprofd.

A heap profile of Perfetto belongs to a process and a time, and its viewer adds up all profiles of a
process until that time. So the trace has up to three processes. The first is the whole run, with a
counter of live bytes. The second is live at the peak. The third has the live bytes of the largest
call sites at each moment that the profile kept. There an increase is written as an allocation and a
decrease as a free. Each has a sequence of packets of its own, as the tables of functions belong to
a sequence.

Source: the messages `TracePacket`, `ProfilePacket`, `InternedData`, `ClockSnapshot` and
`TrackEvent` of the Perfetto project, whose field numbers are below, and `HeapProfileTracker`.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from heapwright.artefacts.profile.calls import Call, Function
from heapwright.artefacts.stacks.profile import (
    NO_STACK,
    Amount,
    StackProfile,
    chains,
    functions_at,
)
from heapwright.base.protobuf import Message

PACKET = 1
(CLOCKS, TIMESTAMP, SEQUENCE, INTERNED, FLAGS, PROCESS_TREE, PROFILE, EVENT, TRACK) = (
    *(6, 8, 10, 12, 13, 2, 37, 11, 60),
)
FRAMES, CALLSTACKS, NAMES, PATHS, SOURCES, MAPPINGS = 6, 7, 5, 17, 18, 19
NEW_TABLES, WITH_TABLES = 1, 2
BOOT_TIME, COARSE_MONOTONIC = 6, 4
COUNTER_EVENT, BYTES_UNIT = 4, 3
START_NS = 10**9
"""The begin of the run. Times of 0 would be missing in messages."""
RUN, PEAK, MOMENTS = 1, 2, 3
"""The numbers of the processes, and of their sequences."""
ALLOCATED, FREED = 2, 3
HEAP = "malloc"
COUNTER_TRACK = 1
NO_FILE = "(no file)"


class _Frame(NamedTuple):
    """The fields of the message `Frame` from the second, in their order. Older viewers have no
    sources."""

    name: int
    mapping: int
    address: int
    source: int
    line: int


class _Tables:
    """The functions, places and stacks of one sequence. Numbers begin at 1."""

    def __init__(self, profile: StackProfile) -> None:
        self.calls = profile.calls
        self.names: dict[str, int] = {}
        self.paths: dict[str, int] = {}
        self.sources: dict[str, int] = {}
        self.frames: dict[_Frame, int] = {}
        self.callstacks: dict[tuple[int, ...], int] = {}

    def callstack(self, place: int) -> int:
        """The number of a stack."""
        found: list[int] = []
        while place:
            node = self.calls.nodes[place]
            functions = functions_at(self.calls, place)
            found += (self._frame(node, each) for each in reversed(functions))
            place = node.parent
        if not found:
            found = [self._frame(Call(0, -1, 0, 0, 0, 0, 0), Function(name=NO_STACK))]
        return self.callstacks.setdefault(tuple(reversed(found)), len(self.callstacks) + 1)

    def _frame(self, node: Call, function: Function) -> int:
        known = 0 <= node.code < len(self.calls.objects)
        path = self.calls.objects[node.code].path if known else NO_FILE
        source = 0
        if function.file:
            source = self.sources.setdefault(function.file, len(self.sources) + 1)
        frame = _Frame(
            self.names.setdefault(function.name, len(self.names) + 1),
            self.paths.setdefault(path, len(self.paths) + 1),
            node.address,
            source,
            function.line,
        )
        return self.frames.setdefault(frame, len(self.frames) + 1)

    def content(self) -> bytes:
        """The message `InternedData`."""
        out = Message()
        for field, texts in ((NAMES, self.names), (PATHS, self.paths), (SOURCES, self.sources)):
            for text, number in texts.items():
                out.whole(field, _interned(number, text))
        for number in self.paths.values():
            mapping = Message()
            mapping.integer(1, number)
            mapping.integer(7, number)
            out.whole(MAPPINGS, mapping.content())
        for values, number in self.frames.items():
            frame = Message()
            for field, value in enumerate((number, *values), 1):
                frame.integer(field, value)
            out.whole(FRAMES, frame.content())
        for stack, number in self.callstacks.items():
            callstack = Message()
            callstack.integer(1, number)
            for each in stack:
                callstack.integer(2, each)
            out.whole(CALLSTACKS, callstack.content())
        return out.content()


def _interned(number: int, text: str) -> bytes:
    out = Message()
    out.integer(1, number)
    out.whole(2, text.encode("utf-8", "surrogateescape"))
    return out.content()


def _packet(sequence: int, flags: int, time_ns: int, field: int, content: bytes) -> bytes:
    """A packet with one part, the number of its field and its content."""
    out = Message()
    out.integer(TIMESTAMP, time_ns)
    out.integer(SEQUENCE, sequence)
    out.integer(FLAGS, flags)
    out.whole(field, content)
    return out.content()


def _clocks() -> bytes:
    """Both clocks show the same time."""
    out = Message()
    for clock in (BOOT_TIME, COARSE_MONOTONIC):
        one = Message()
        one.integer(1, clock)
        one.integer(2, START_NS)
        out.whole(1, one.content())
    out.integer(2, BOOT_TIME)
    return out.content()


def _named(which: int, name: str) -> Iterator[bytes]:
    """The packet with the name of a process."""
    process = Message()
    process.integer(1, which)
    process.text(3, name)
    tree = Message()
    tree.whole(1, process.content())
    yield _packet(which, NEW_TABLES, START_NS, PROCESS_TREE, tree.content())


def _at_peak(own: Call) -> dict[int, int]:
    """Fields and values of a sample of `dump_at_max`."""
    return {8: own.at_peak_bytes, 9: own.at_peak}


def _of_run(profile: StackProfile, own: Call) -> dict[int, int]:
    if Amount.BYTES not in profile.known:
        return {ALLOCATED: own.never_freed_bytes, 5: own.never_freed}
    return {  # sampled live memory may be more than all sampled allocations
        ALLOCATED: max(own.bytes, own.never_freed_bytes),
        FREED: max(own.bytes - own.never_freed_bytes, 0),
        5: max(own.allocations, own.never_freed),
        6: max(own.allocations - own.never_freed, 0),
    }


def _dump(which: int, index: int, time_ns: int, samples: Mapping[int, Mapping[int, int]]) -> bytes:
    """The packet of one heap profile: the fields of a sample for each stack."""
    dump = Message()
    dump.integer(1, which)
    dump.integer(9, time_ns)
    dump.text(11, HEAP)
    for callstack, values in samples.items():
        sample = Message()
        sample.integer(1, callstack)
        for field, value in values.items():
            sample.integer(field, value)
        dump.whole(2, sample.content())
    packet = Message()
    packet.whole(5, dump.content())
    packet.integer(7, index)
    return _packet(which, WITH_TABLES, time_ns, PROFILE, packet.content())


def _heap(profile: StackProfile, which: int, time_ns: int) -> Iterator[bytes]:
    """The packets of the heap profile of one process."""
    tables = _Tables(profile)
    samples = _samples(profile, which, tables)
    yield _packet(which, NEW_TABLES | WITH_TABLES, time_ns, INTERNED, tables.content())
    yield _dump(which, 0, time_ns, samples)


def _moments(profile: StackProfile) -> Iterator[bytes]:
    """The packets of a heap profile at each moment. Amounts are sums since the begin."""
    tables = _Tables(profile)
    live = [Counter[int]() for _ in profile.moments_s]
    for course in profile.courses:
        callstack = tables.callstack(course.place)
        for found, size in zip(live, course.live, strict=True):
            found[callstack] += size
    yield _packet(MOMENTS, NEW_TABLES | WITH_TABLES, START_NS, INTERNED, tables.content())
    sums = {each: {ALLOCATED: 0, FREED: 0} for each in tables.callstacks.values()}
    before = Counter[int]()
    for index, (time_s, found) in enumerate(zip(profile.moments_s, live, strict=True)):
        for callstack, size in found.items():
            grown = size - before[callstack]
            sums[callstack][ALLOCATED if grown > 0 else FREED] += abs(grown)
        before = found
        yield _dump(MOMENTS, index, START_NS + round(time_s * 1e9), sums)


def _samples(profile: StackProfile, which: int, tables: _Tables) -> dict[int, Counter[int]]:
    """The fields of the sample of each stack. Two samples of one stack would replace each other."""
    found: dict[int, Counter[int]] = {}
    for chain in chains(profile.calls):
        values = _at_peak(chain.own) if which == PEAK else _of_run(profile, chain.own)
        if any(values.values()):
            found.setdefault(tables.callstack(chain.place), Counter()).update(values)
    return found


def _counter(profile: StackProfile) -> Iterator[bytes]:
    """Live bytes over time."""
    if profile.time_unit != "s" or not profile.timeline:
        return
    counter = Message()
    counter.integer(3, BYTES_UNIT)
    track = Message()
    track.integer(1, COUNTER_TRACK)
    track.text(2, "live bytes")
    track.whole(8, counter.content())
    yield _packet(RUN, WITH_TABLES, START_NS, TRACK, track.content())
    for moment in profile.timeline:
        event = Message()
        event.integer(9, COUNTER_EVENT)
        event.integer(11, COUNTER_TRACK)
        event.integer(30, moment.live_bytes)
        time_ns = START_NS + round(moment.time * 1e9)
        yield _packet(RUN, WITH_TABLES, time_ns, EVENT, event.content())


def perfetto_of(profile: StackProfile) -> bytes:
    """The trace. The same profile gives the same bytes."""
    name = " ".join(profile.command) or profile.source
    end_ns = START_NS + round(profile.duration_s * 1e9)
    peak_ns = START_NS + round((profile.peak_s or 0) * 1e9)
    packets = [_packet(RUN, NEW_TABLES, START_NS, CLOCKS, _clocks())]
    packets += _named(RUN, name)
    if Amount.BYTES in profile.known or Amount.KEPT_BYTES in profile.known:
        packets += _heap(profile, RUN, end_ns)
    packets += _counter(profile)
    if Amount.AT_PEAK_BYTES in profile.known:
        packets += _named(PEAK, f"{name} (live at the peak)")
        packets += _heap(profile, PEAK, peak_ns)
    if profile.courses:
        packets += _named(MOMENTS, f"{name} (live over time)")
        packets += _moments(profile)
    out = Message()
    for packet in packets:
        out.whole(PACKET, packet)
    return out.content()
