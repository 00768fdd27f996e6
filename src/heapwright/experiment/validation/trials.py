# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The workloads under which a stand-in and its original are compared, with their parameters.

Ten named workloads run whole, at each number of threads, for their peak memory. The workloads of
the taxonomy follow, for false sharing, growth, speed, speedup and locks. Instrumentation is left
out, because it is slow and no comparison here uses it. Whether lines are shared is measured in
each block, because it can depend on when threads meet.
"""

from collections.abc import Iterator
from dataclasses import replace

from heapwright.artefacts.run.workload import Aspect
from heapwright.experiment.taxonomy.trials import (
    MEMORY,
    Extent,
    Trial,
    event_trials,
    speedup_trials,
    trials,
)

THREADS = (1, 2, 8)
SAME_AS_TAXONOMY = frozenset({Aspect.TIME, Aspect.THREADS, Aspect.SPEED})
PEAKS: dict[str, tuple[str, ...]] = {
    "threadtest": ("--objects", "100000", "--size", "64", "--rounds", "3"),
    "loop": ("--iterations", "20000", "--max", "32768", "--hold", "10"),
    "larson": ("--blocks", "10000", "--most", "500", "--steps", "20000", "--lives", "3"),
    "shbench": ("--slots", "100000", "--blocks", "500000"),
    "phong": ("--objects", "20000"),
    "t-test1": ("--total", "16", "--actions", "5000"),
    "producer-consumer": ("--batch", "5000", "--rounds", "40"),
    "round-robin": ("--batch", "50000", "--rounds", "16"),
    "uma-test": ("--allocations", "100000", "--most", "512"),
    "barnes-hut": ("--bodies", "16384", "--rounds", "1"),
}
"""Each needs some MiB, except loop, and takes a fraction of a second."""
FIXED = ("--iterations", "1", "--max", "64")
"""One object in each thread: the memory is that of the libraries, the threads and first chunks."""


def validation_trials(extent: Extent) -> Iterator[Trial]:
    """All trials, the most informative for their time first."""
    for threads in THREADS:
        yield Trial(Aspect.FIXED, "loop", threads, (*FIXED, *MEMORY))
    for workload, arguments in PEAKS.items():
        for threads in THREADS:
            yield Trial(Aspect.PEAK, workload, threads, (*arguments, *MEMORY))
    yield from event_trials(extent, THREADS, blocks=None)
    for trial in trials(extent):
        if trial.aspect is Aspect.LINES:
            yield replace(trial, blocks=None)
        elif trial.aspect in SAME_AS_TAXONOMY:
            yield trial
    yield from speedup_trials(extent, THREADS)
