# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The threads of a synthetic load: when they live, how much they request, and the threads that
receive their blocks.

Another number of threads than the program had is made by dividing each thread's part among copies,
or by putting several into one.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from heapwright.artefacts.profile.document import Profile
from heapwright.synth.plan import Worker


@dataclass(slots=True)
class _Row:
    allocations: float
    begins: int
    ends: int
    hands: dict[int, float] = field(default_factory=lambda: defaultdict(float))


def workers(profile: Profile, count: int | None, operations: int) -> tuple[Worker, ...]:
    """`count` threads (none: as many as the program had) on a clock of that many operations."""
    rows = _rows(profile, operations)
    if count is not None and count < len(rows):
        rows = _merged(rows, count)
    elif count is not None and count > len(rows):
        rows = _copied(rows, count)
    share = _ended_share(profile)
    return tuple(_worker(row, share) for row in rows)


def _rows(profile: Profile, operations: int) -> list[_Row]:
    """In the order of the profile, dense from 0."""
    number = {each.thread: at for at, each in enumerate(profile.threads)}
    clock = _Clock(profile, operations)
    rows = [
        _Row(each.allocations, clock.at(each.started_s), clock.at(each.ended_s) + 1)
        for each in profile.threads
    ]
    for giver, taker, blocks in profile.cross_thread_frees.pairs:
        if giver in number and taker in number:
            rows[number[giver]].hands[number[taker]] += blocks
    return rows or [_Row(1, 0, operations + 1)]


class _Clock:
    """From seconds to operations, along the phases."""

    def __init__(self, profile: Profile, operations: int) -> None:
        phases = profile.phases
        self._times = np.array([0.0, *(phase.time_s for phase in phases)])
        last = phases[-1].operation if phases else 1
        scale = operations / max(last, 1)
        self._operations = np.array([0.0, *(phase.operation * scale for phase in phases)])

    def at(self, seconds: float) -> int:
        return int(np.interp(seconds, self._times, self._operations))


def _merged(rows: Sequence[_Row], count: int) -> list[_Row]:
    merged = [_Row(0, rows[at].begins, rows[at].ends) for at in range(count)]
    for at, row in enumerate(rows):
        into = merged[at % count]
        into.allocations += row.allocations
        into.begins = min(into.begins, row.begins)
        into.ends = max(into.ends, row.ends)
        for taker, blocks in row.hands.items():
            if taker % count != at % count:
                into.hands[taker % count] += blocks
    return merged


def _copied(rows: Sequence[_Row], count: int) -> list[_Row]:
    model = len(rows)
    copies = [(count - at + model - 1) // model for at in range(model)]
    made = []
    for number in range(count):
        row, copy = rows[number % model], number // model
        part = copies[number % model]
        hands: dict[int, float] = defaultdict(float)
        for taker, blocks in row.hands.items():
            hands[taker + model * (copy % copies[taker])] += blocks / part
        made.append(_Row(row.allocations / part, row.begins, row.ends, hands))
    return made


def _ended_share(profile: Profile) -> float:
    totals = profile.totals
    return 1 - totals.never_freed / totals.allocations if totals.allocations else 0.0


def _worker(row: _Row, ended_share: float) -> Worker:
    lived = max(row.ends - row.begins, 1)
    ended = row.allocations * ended_share
    handed = sum(row.hands.values())
    hands = min(handed / ended, 1.0) if ended > 0 else 0.0
    return Worker(row.allocations / lived, row.begins, row.ends, hands, tuple(row.hands.items()))
