# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The plan that heapwright-synth draws a load from; native/synth/PLAN.md describes its text."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

VERSION = 1


class LifetimeKind(IntEnum):
    """When a block ends."""

    OPERATIONS = 0
    END = 1
    NEVER = 2


@dataclass(frozen=True, slots=True)
class Choice:
    """An entry point that allocates."""

    routine: int
    alignment: int
    weight: float


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes low, low + step, … up to high, all as likely."""

    low: int
    high: int
    step: int
    weight: float


@dataclass(frozen=True, slots=True)
class Band:
    """Sizes that have their lifetimes in common; `handing` is relative to the average."""

    sizes: tuple[Sizes, ...]
    handing: float = 1.0


@dataclass(frozen=True, slots=True)
class Lifetime:
    """Between low and high operations; without these for the other kinds."""

    kind: LifetimeKind
    low: int = 0
    high: int = 0


@dataclass(frozen=True, slots=True)
class Worker:
    """A thread: its weight while it lives, its share of passed blocks, and their receivers."""

    weight: float
    begins: int
    ends: int
    hands: float = 0.0
    takers: tuple[tuple[int, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Stretch:
    """A phase: its length, and how many allocations of each (band, lifetime)."""

    operations: int
    nanoseconds: float
    cells: tuple[tuple[int, int, int], ...]
    handing: float = 1.0


@dataclass(frozen=True, slots=True)
class Plan:
    """The whole of it."""

    seed: int
    null_frees: float
    moves: float
    routines: tuple[Choice, ...]
    bands: tuple[Band, ...]
    lifetimes: tuple[Lifetime, ...]
    threads: tuple[Worker, ...]
    phases: tuple[Stretch, ...]

    @property
    def allocations(self) -> int:
        return sum(count for phase in self.phases for _, _, count in phase.cells)

    def to_text(self) -> str:
        """As the program reads it."""
        return "\n".join((*self._head(), *self._threads(), *self._phases(), "end", ""))

    def _head(self) -> Iterator[str]:
        yield f"heapwright-plan {VERSION}"
        yield f"seed {self.seed}"
        yield f"null-frees {self.null_frees:.9g}"
        yield f"moves {self.moves:.9g}"
        yield f"routines {len(self.routines)}"
        for choice in self.routines:
            yield f"{choice.routine} {choice.alignment} {choice.weight:.9g}"
        yield f"bands {len(self.bands)}"
        for band in self.bands:
            yield f"band {band.handing:.9g} {len(band.sizes)}"
            for each in band.sizes:
                yield f"{each.low} {each.high} {each.step} {each.weight:.9g}"
        yield f"lifetimes {len(self.lifetimes)}"
        for lifetime in self.lifetimes:
            limits = lifetime.kind is LifetimeKind.OPERATIONS
            yield f"{int(lifetime.kind)}" + (f" {lifetime.low} {lifetime.high}" if limits else "")

    def _threads(self) -> Iterator[str]:
        yield f"threads {len(self.threads)}"
        for thread in self.threads:
            yield f"{thread.weight:.9g} {thread.begins} {thread.ends} {thread.hands:.9g}"
            yield f"{len(thread.takers)}"
            for taker, weight in thread.takers:
                yield f"{taker} {weight:.9g}"

    def _phases(self) -> Iterator[str]:
        yield f"phases {len(self.phases)}"
        for phase in self.phases:
            yield f"phase {phase.operations} {phase.nanoseconds:.9g} {phase.handing:.9g}"
            yield f"{len(phase.cells)}"
            for band, lifetime, count in phase.cells:
                yield f"{band} {lifetime} {count}"
