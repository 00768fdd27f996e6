# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The workloads of each measurement, with their parameters.

The parameters let a whole survey take minutes. An operation costs tens to hundreds of nanoseconds,
so a run takes a fraction of a second. Each run is long enough for its purpose;
docs/reference/taxonomy.md states how the length was found. `small` is for trials of the verb.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from heapwright.artefacts.run.workload import Aspect

MIB = 1 << 20
OBJECT = 256
"""Bytes of an object of producer-consumer, chosen to allocate much in a short time."""
SMALL_OBJECT = 64
"""Bytes of an object of round-robin: such as programs have most."""
NEED = 8 * MIB
"""Memory that round-robin needs. It is large beside the caches and superblocks of a thread, and
at most a region of any arena. The kept object of each thread then holds all of its heap."""
PAIR_NEED = 1 * MIB
CURVES = 3
"""Repetitions of a memory curve, which scatters little."""
TURNOVERS = 256
"""Number of times that producer-consumer replaces all objects. Memory that fills later is not
detected."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One run to be made under each allocator: `arguments` without `--threads` and `--seed`."""

    aspect: Aspect
    workload: str
    threads: int
    arguments: tuple[str, ...]
    blocks: int | None = None
    """The largest number of blocks; 1 for counts without scatter."""


@dataclass(frozen=True, slots=True)
class Extent:
    """How much is run."""

    cpus: int
    small: bool = False

    @property
    def timed(self) -> tuple[int, ...]:
        """Numbers of threads that are timed: powers of two up to the processors, and these."""
        powers = [1 << power for power in range(self.cpus.bit_length()) if 1 << power < self.cpus]
        return (*powers, self.cpus)

    @property
    def counted(self) -> tuple[int, ...]:
        """Numbers of threads for counts that do not need a processor for each thread."""
        counts = (1, 4, 16) if self.small else (1, 2, 4, 8, 16, 32, 64)
        return tuple(sorted({*counts, self.together}))

    @property
    def instrumented(self) -> tuple[int, ...]:
        """The same under valgrind, which is slow."""
        return (self.together,) if self.small else tuple(sorted({self.together, 8}))

    @property
    def together(self) -> int:
        """As many threads as can run at once, but more than one."""
        return max(self.cpus, 2)

    @property
    def spread(self) -> tuple[int, ...]:
        """Numbers of threads that the round-robin work goes round."""
        return (1, 2, 4, 8) if self.small else (1, 2, 4, 8, 16, 32)


def trials(extent: Extent) -> Iterator[Trial]:
    """All trials, the most informative for their time first."""
    yield from _blowup(extent)
    yield from _lines(extent)
    yield from _speed(extent)
    yield from speedup_trials(extent, extent.timed)
    yield from event_trials(extent, extent.counted)
    yield from _instrumented(extent)


def _blowup(extent: Extent) -> Iterator[Trial]:
    rounds = TURNOVERS // (4 if extent.small else 1)
    pair = ("--batch", str(PAIR_NEED // OBJECT), "--size", str(OBJECT), "--rounds", str(rounds))
    yield Trial(Aspect.TIME, "producer-consumer", 2, (*pair, *MEMORY), blocks=CURVES)
    for threads in extent.spread:
        sizes = ("--batch", str(NEED // SMALL_OBJECT), "--size", str(SMALL_OBJECT))
        ring = (*sizes, "--rounds", str(2 * threads))
        yield Trial(Aspect.THREADS, "round-robin", threads, (*ring, *MEMORY), blocks=CURVES)


MEMORY = ("--observe", "memory")
LINES = ("--observe", "lines")


def _lines(extent: Extent) -> Iterator[Trial]:
    many = "2000" if extent.small else "10000"
    programs: dict[str, tuple[str, ...]] = {
        "threadtest": ("--objects", "10000", "--rounds", "5"),
        "larson": ("--blocks", "1000", "--steps", "5000", "--lives", "4"),
        "producer-consumer": ("--batch", "1000", "--rounds", "20"),
        "shbench": ("--scale", "0.02"),
        "phong": ("--scale", "0.02"),
        "t-test1": ("--scale", "0.02"),
    }
    for name in ("cache-thrash", "cache-scratch"):
        thrash = ("--iterations", many, "--writes", "1000", *LINES)
        yield Trial(Aspect.LINES, name, 8, thrash, blocks=1)
    for name, arguments in programs.items():
        yield Trial(Aspect.LINES, name, 4, (*arguments, *LINES), blocks=1)


def _one_thread(many: int) -> dict[str, tuple[str, ...]]:
    """Trials of an allocator's own path: without live objects, and with a thousand."""
    return {
        "loop": ("--iterations", str(many), "--max", "256"),
        "threadtest": ("--objects", "1000", "--rounds", str(many // 1000), "--size", "64"),
        "larson": ("--blocks", "1000", "--steps", str(many), "--lives", "1"),
    }


def _speed(extent: Extent) -> Iterator[Trial]:
    for name, arguments in _one_thread(200_000 if extent.small else 1_000_000).items():
        yield Trial(Aspect.SPEED, name, 1, arguments)


def speedup_trials(extent: Extent, numbers: Iterable[int]) -> Iterator[Trial]:
    """The whole work is the same for each number of threads."""
    many = 400_000 if extent.small else 2_000_000
    for threads in numbers:
        each = str(many // threads)
        loop = ("--iterations", each, "--max", "256")
        larson = ("--blocks", "1000", "--steps", each, "--lives", "1")
        yield Trial(Aspect.SPEEDUP, "loop", threads, loop)
        yield Trial(Aspect.SPEEDUP, "larson", threads, larson)
        yield Trial(Aspect.SPEEDUP, "threadtest", threads, ("--rounds", str(many // 100_000)))


def _counted_arguments(workload: str, threads: int, many: int) -> tuple[str, ...]:
    """About `many` objects in all, for any number of threads."""
    each = max(many // threads, 100)
    if workload == "threadtest":
        return ("--objects", str(max(many // 10, threads)), "--rounds", "10")
    return ("--blocks", str(max(each // 10, 10)), "--steps", str(each), "--lives", "1")


def event_trials(extent: Extent, numbers: Iterable[int], blocks: int | None = 1) -> Iterator[Trial]:
    """Counts of what threads do to each other. The threads take turns at each call."""
    many = 5_000 if extent.small else 20_000
    for workload in ("threadtest", "larson"):
        for threads in numbers:
            arguments = _counted_arguments(workload, threads, many)
            turns = (*arguments, "--interleave")
            yield Trial(Aspect.EVENTS, workload, threads, turns, blocks=blocks)


def _instrumented(extent: Extent) -> Iterator[Trial]:
    many = 2_000 if extent.small else 5_000
    for name, arguments in _one_thread(many).items():
        yield Trial(Aspect.INSTRUCTIONS, name, 1, arguments, blocks=1)
    for threads in extent.instrumented:
        each = _counted_arguments("threadtest", threads, many)
        yield Trial(Aspect.SHARING, "threadtest", threads, each, blocks=1)
