# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A trace for Perfetto has a heap profile of the run, one of the peak, and a counter."""

from collections import defaultdict
from dataclasses import replace
from typing import NamedTuple

from heapwright.artefacts.stacks.profile import Amount, Moment, StackCourse, StackProfile
from heapwright.base.protobuf import fields_of
from heapwright.report.stacks.perfetto import perfetto_of

Fields = dict[int, list[int | bytes]]


class Heap(NamedTuple):
    """A heap profile: the fields of its samples by their functions, and their sums."""

    samples: dict[tuple[str, ...], dict[int, int]]
    time_ns: int

    def total(self, field: int) -> int:
        return sum(sample.get(field, 0) for sample in self.samples.values())


def fields(content: int | bytes) -> Fields:
    found: Fields = defaultdict(list)
    assert isinstance(content, bytes)
    for field, value in fields_of(content):
        found[field].append(value)
    return found


def number(found: Fields, field: int) -> int:
    (value,) = found[field]
    assert isinstance(value, int)
    return value


def texts(interned: Fields, field: int) -> dict[int, str]:
    entries = map(fields, interned[field])
    return {number(each, 1): bytes(each[2][0]).decode() for each in entries}


def packets(profile: StackProfile) -> list[Fields]:
    return [fields(each) for each in fields(perfetto_of(profile))[1]]


def heaps(profile: StackProfile) -> dict[int, Heap]:
    """The heap profiles by their process."""
    names: dict[int, dict[int, tuple[str, ...]]] = {}
    found = {}
    for packet in packets(profile):
        sequence = number(packet, 10)
        if 12 in packet:
            interned = fields(packet[12][0])
            functions = texts(interned, 5)
            frames = {
                number(each, 1): functions[number(each, 2)]
                for each in map(fields, interned[6])
                if number(each, 3) in texts(interned, 17)
            }
            names[sequence] = {
                number(each, 1): tuple(frames[int(frame)] for frame in each[2])
                for each in map(fields, interned[7])
            }
        if 37 in packet:
            dump = fields(fields(packet[37][0])[5][0])
            samples: dict[tuple[str, ...], dict[int, int]] = {}
            for each in map(fields, dump[2]):
                sums = samples.setdefault(names[sequence][number(each, 1)], {})
                for field in each:
                    sums[field] = sums.get(field, 0) + number(each, field)
            assert len({number(each, 1) for each in map(fields, dump[2])}) == len(dump[2])
            found[number(dump, 1)] = Heap(samples, number(dump, 9))
    return found


def test_the_run_has_allocated_and_freed_amounts(stacks: StackProfile) -> None:
    run = heaps(stacks)[1]
    assert run.total(2) == stacks.total(Amount.BYTES)
    assert run.total(2) - run.total(3) == stacks.total(Amount.KEPT_BYTES)
    assert run.total(5) == stacks.total(Amount.ALLOCATIONS)
    assert run.total(5) - run.total(6) == stacks.total(Amount.KEPT)
    assert run.time_ns == 3_500_000_000


def test_a_function_has_its_source_and_line(stacks: StackProfile) -> None:
    interned = next(fields(packet[12][0]) for packet in packets(stacks) if 12 in packet)
    functions, sources = texts(interned, 5), texts(interned, 18)
    places = {
        (functions[number(each, 2)], sources[number(each, 5)], number(each, 6))
        for each in map(fields, interned[6])
        if 5 in each
    }
    assert ("main", "program.c", 9) in places


def test_the_peak_is_a_process_of_its_own(stacks: StackProfile) -> None:
    peak = heaps(stacks)[2]
    assert peak.total(8) == stacks.total(Amount.AT_PEAK_BYTES)
    assert peak.total(9) == stacks.total(Amount.AT_PEAK)
    found = peak.samples["main", "keep", "libx.so.1+0xabc"]
    assert (found[8], found[9]) == (10_000, 100)


def test_live_bytes_are_a_counter(stacks: StackProfile) -> None:
    timeline = (Moment(0.5, 100), Moment(1.0, 10_100))
    events = [
        (number(packet, 8), number(fields(packet[11][0]), 30))
        for packet in packets(replace(stacks, timeline=timeline))
        if 11 in packet
    ]
    assert events == [(1_500_000_000, 100), (2_000_000_000, 10_100)]


def test_each_moment_has_the_live_bytes_of_call_sites(stacks: StackProfile) -> None:
    courses = (StackCourse(2, (5, 90, 20)), StackCourse(4, (0, 7, 8)), StackCourse(2, (1, 0, 0)))
    profile = replace(stacks, moments_s=(0.5, 1.0, 1.5), courses=courses)
    dumps = [
        fields(fields(packet[37][0])[5][0])
        for packet in packets(profile)
        if 37 in packet and number(packet, 10) == 3
    ]
    assert [number(each, 9) for each in dumps] == [1_500_000_000, 2_000_000_000, 2_500_000_000]
    live = []
    for dump in dumps:
        samples = [{name: each[name][0] for name in each} for each in map(fields, dump[2])]
        live.append([int(each.get(2, 0)) - int(each.get(3, 0)) for each in samples])
    assert live == [[6, 0], [90, 7], [20, 8]]


def test_a_profile_of_the_peak_alone_has_no_other(stacks: StackProfile) -> None:
    alone = replace(stacks, known=frozenset({Amount.AT_PEAK_BYTES}))
    assert list(heaps(alone)) == [2]


def test_the_same_profile_gives_the_same_bytes(stacks: StackProfile) -> None:
    assert perfetto_of(stacks) == perfetto_of(stacks)
