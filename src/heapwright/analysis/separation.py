# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Separation by one family of simultaneous intervals: group letters and the front of a comparison.

All intervals of a response hold together, so any statement that follows from them holds with the
same confidence. The baseline's interval is the point 1.

    apart   two treatments differ in a response exactly if their intervals are disjoint
    beaten  another treatment is apart and better in one response, and in the other response both
            ends of its interval are at or below those of this treatment

Ends within the margin of 1 count as 1 in `beaten`. The order is transitive. The verdict reads the
same intervals, therefore the three agree. A treatment that wins a response shares no letter with
the baseline in it. A clean winner beats the baseline on the front.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heapwright.analysis.blocked import NO_SCATTER, Floats
from heapwright.analysis.ratio_text import Span
from heapwright.artefacts.comparison.document import Key


def apart(low: Floats, high: Floats) -> NDArray[np.bool_]:
    """Which pairs have disjoint intervals; `low` and `high` (k) are on the log scale."""
    below = high[:, None] < low[None, :] - NO_SCATTER
    return below | below.T


@dataclass(frozen=True, slots=True)
class Point:
    """A treatment in the plane of time and memory."""

    key: Key
    time: Span
    memory: Span

    def beats(self, other: "Point", margin: float) -> bool:
        """Whether the intervals show `other` to be beaten by this one."""
        pairs = ((self.time, other.time), (self.memory, other.memory))
        return any(
            one[0].high < one[1].low and _not_above(*two, margin)
            for one, two in (pairs, pairs[::-1])
        )


def shown_front(points: Sequence[Point], margin: float) -> tuple[Key, ...]:
    """The keys that no other point beats; the fastest first."""
    front = [point for point in points if not any(other.beats(point, margin) for other in points)]
    ordered = sorted(front, key=lambda point: (point.time.ratio, point.memory.ratio, point.key))
    return tuple(point.key for point in ordered)


def _not_above(one: Span, other: Span, margin: float) -> bool:
    return _end(one.low, margin) <= _end(other.low, margin) and _end(one.high, margin) <= _end(
        other.high, margin
    )


def _end(ratio: float, margin: float) -> float:
    return 1.0 if 1 - margin <= ratio <= 1 + margin else ratio
