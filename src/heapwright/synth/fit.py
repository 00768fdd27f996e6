# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""How many blocks of each size band and lifetime class each phase makes: the heart of the model.

A profile has lifetimes by size over the whole run. By phase, it has the number and the bytes of the
allocations, the live bytes at the end, and the number of long-lived allocations. It does not tell
which sizes and lifetimes belong to which phase. The result is the table with those margins that
assumes least beyond them (greatest entropy). Iterative scaling finds it. Each margin in turn
multiplies its cells by its ratio of target to sum (Deming and Stephan 1940). Margins that cells
share in part need the simultaneous multiplicative form of Darroch and Ratcliff (1972). Margins need
not be quite consistent (a band's mean stands for its sizes). So it ends after a fixed number of
rounds, with the counts by size and lifetime exact.
"""

import numpy as np

from heapwright.synth.observed import LONG_S, Array, Observed
from heapwright.synth.survival import ended_by, live_at

ROUNDS = 80
ENOUGH = 1e-3
LARGEST_STEP = 4.0
FLOOR = 1e-9


def fit(seen: Observed) -> Array:
    """Shape (P, J): expected allocations of phase p in column j; its groups of columns sum to
    `seen.count`.

    Live memory is matched with steps larger than the method's own, as long as that brings it
    nearer. A block is live at many moments, and each of them moves it only a little.
    """
    table = _Table(seen)
    step, before = 2.0, np.inf
    for _ in range(ROUNDS):
        table.match_long_lived()
        table.match_bytes()
        off = table.match_live(step)
        table.match_phases()
        table.match_columns()
        step = min(1.2 * step, 12.0) if off < before else max(0.5 * step, 1.0)
        before = off
        if off < ENOUGH:
            break
    return table.cells


class _Table:
    def __init__(self, seen: Observed) -> None:
        self._seen = seen
        begins, ends = seen.begins, seen.ends
        classes = (seen.low, seen.high)
        self._live = live_at(ends, begins, ends, *classes)
        self._long = _long_share(seen)[:, seen.lifetime]
        share = seen.allocations / seen.allocations.sum()
        over = _over_by_the_end(seen)[:, seen.lifetime]
        self._parts = np.diff(np.append(seen.group, len(seen.band)))
        count = np.repeat(seen.count / self._parts, self._parts)
        self.cells = np.outer(share, count) * over + FLOOR
        weight = np.log(np.maximum(seen.mean_size, 1.0))
        self._weight = weight - np.average(weight, weights=count)
        typical = seen.live_bytes.max() / max(seen.live_objects.max(), 1.0)
        self._by_bytes = seen.mean_size / (seen.mean_size + max(typical, 1.0))
        self.match_columns()

    def match_columns(self) -> None:
        """Lifetimes by size, over the whole run."""
        seen = self._seen
        found = np.add.reduceat(self.cells.sum(axis=0), seen.group)
        self.cells *= np.repeat(seen.count / np.maximum(found, FLOOR), self._parts)

    def match_phases(self) -> None:
        """How many allocations each phase makes."""
        made = np.maximum(self.cells.sum(axis=1), FLOOR)
        self.cells *= (self._seen.allocations / made)[:, None] + FLOOR

    def match_bytes(self) -> None:
        """How many bytes each phase asks for: one Newton step of a tilt by size."""
        seen = self._seen
        wanted = seen.bytes
        bytes_each = self.cells * seen.mean_size
        total = bytes_each.sum(axis=1)
        slope = bytes_each @ self._weight
        spread = bytes_each @ np.square(self._weight)
        gain = np.log(np.maximum(wanted, 1.0) / np.maximum(total, 1.0))
        rate = np.sqrt(spread / np.maximum(total, 1.0)) + np.abs(slope) / np.maximum(total, 1.0)
        tilt = np.clip(gain / np.maximum(rate, 0.1), -0.5, 0.5)
        self.cells *= np.exp(np.outer(tilt, self._weight))

    def match_live(self, step: float) -> float:
        """What is live at the end of each phase: objects, and bytes where blocks are large.

        How far both were off before, as parts of their peaks.
        """
        seen = self._seen
        objects = self._live_sum(self.cells)
        size = self._live_sum(self.cells * seen.mean_size)
        by_objects = self._exponents(_gain(seen.live_objects, objects))
        by_bytes = self._exponents(_gain(seen.live_bytes, size))
        mixed = by_objects * (1 - self._by_bytes) + by_bytes * self._by_bytes
        self.cells *= np.exp(np.clip(step * mixed, -2.0, 2.0))
        return _off(seen.live_objects, objects) + _off(seen.live_bytes, size)

    def match_long_lived(self) -> None:
        """How many of a phase's allocations are retained for more than a second."""
        made = self.cells.sum(axis=1)
        long = (self.cells * self._long).sum(axis=1)
        odds = _odds(self._seen.long_lived, self._seen.allocations) / _odds(long, made)
        tilt = np.clip(np.log(odds), -1.0, 1.0)
        self.cells *= np.exp(tilt[:, None] * self._long)

    def _live_sum(self, cells: Array) -> Array:
        """Q: what of the cells is live at the end of each phase."""
        classes = np.zeros((len(self._seen.low), len(cells)))
        np.add.at(classes, self._seen.lifetime, cells.T)
        total: Array = np.einsum("kp,kpq->q", classes, self._live)
        return total

    def _exponents(self, gain: Array) -> Array:
        """Shape (P, J): the mean gain over the moments at which a cell's blocks are live."""
        moments = np.maximum(self._live.sum(axis=2), 1.0)
        mean: Array = (self._live @ gain) / moments
        return mean.T[:, self._seen.lifetime]


def _gain(wanted: Array, found: Array) -> Array:
    floor = 1e-3 * max(wanted.max(), 1.0)
    limit = np.log(LARGEST_STEP)
    gain: Array = np.clip(np.log((wanted + floor) / (found + floor)), -limit, limit)
    return gain


def _off(wanted: Array, found: Array) -> float:
    return float(np.abs(found - wanted).mean() / max(wanted.max(), 1.0))


def _odds(part: Array, whole: Array) -> Array:
    odds: Array = (part + 0.5) / (np.maximum(whole - part, 0.0) + 0.5)
    return odds


def _over_by_the_end(seen: Observed) -> Array:
    """Shape (P, K): the probability that a block's end comes before the run's; 1 for \"for
    ever\".
    """
    ended = ended_by(seen.ends[-1:], seen.begins, seen.ends, seen.low, seen.high)[:, :, 0].T
    ended[:, ~np.isfinite(seen.high)] = 1.0
    return ended


def _long_share(seen: Observed) -> Array:
    """Shape (P, K): the probability that a block is retained for more than a second."""
    clock = np.concatenate(([0.0], seen.ends))
    times = np.concatenate(([0.0], seen.times))
    never = float(seen.operations + seen.high[np.isfinite(seen.high)].max(initial=0.0) + 1)
    shares = []
    for begin, end in zip(seen.begins, seen.ends, strict=True):
        born = float(np.interp((begin + end) / 2, clock, times))
        later = np.array([np.interp(born + LONG_S, times, clock, right=never)])
        phase = np.array([begin]), np.array([end])
        shares.append(1 - ended_by(later, *phase, seen.low, seen.high)[:, 0, 0])
    return np.array(shares)
