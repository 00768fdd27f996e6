# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Notes on what disturbed the runs: other programs, other virtual machines, paging, random seeds.

Every run records its disturbances. A quiet machine gives no note.
"""

from collections.abc import Iterable, Iterator, Sequence
from statistics import median

from heapwright.artefacts.comparison.document import Comparison
from heapwright.artefacts.comparison.levels import views
from heapwright.artefacts.run.measured import Outcome, Run

BUSY = 0.5
"""Load per processor before the first run above which a machine is called busy."""
STOLEN = 0.01
"""Share of the processors' time taken by other virtual machines above which a note is printed."""
FEWEST_RUNS = 3
"""Runs from which on a majority means something."""
ERRATIC = 0.1
"""Scatter of one run, as a fraction, above which a note names possible causes."""
WORDS = {"time": "wall time", "cpu": "processor time"}


def disturbance_notes(comparison: Comparison) -> Iterator[str]:
    """A line for each kind of disturbance that the runs recorded."""
    environment, runs = comparison.environment, comparison.runs
    yield from machine_notes(runs, environment.cpus)
    yield from _erratic(comparison)
    if environment.governor in ("powersave", "conservative", "ondemand"):
        yield f"the frequency governor is {environment.governor}: expect scatter"
    left = max((run.leftover_processes for run in runs), default=0)
    if left == 1:
        yield "a process outlived the command and was ended after the run"
    elif left:
        yield f"up to {left} processes outlived the command and were ended after each run"


def machine_notes(runs: Sequence[Run], cpus: int) -> Iterator[str]:
    """What disturbed the runs of one host, which has `cpus` processors."""
    yield from _load(runs, cpus)
    yield from _stolen(runs, cpus)
    measured = [run for run in runs if run.outcome is Outcome.OK and not run.warmup]
    yield from _queued(measured, cpus)
    yield from _held_back(measured)
    yield from _paged(measured)


def _stolen(runs: Iterable[Run], cpus: int) -> Iterator[str]:
    shares = [
        run.steal_s / (run.wall_s * cpus) for run in runs if run.steal_s is not None and run.wall_s
    ]
    if shares and median(shares) > STOLEN:
        yield (
            f"other virtual machines took {median(shares):.0%} of the processors' time, "
            f"{max(shares):.0%} in the worst run"
        )


def _load(runs: Iterable[Run], cpus: int) -> Iterator[str]:
    """Load before the first run, when the command itself does not add to it yet."""
    loads = [run.load_before for run in runs if run.load_before is not None]
    if loads and loads[0] > BUSY * cpus:
        load = f"load {loads[0]:.1f}"
        load += f", later up to {max(loads):.1f}" if max(loads) > loads[0] else ""
        yield f"the machine was busy before the first run ({load}): expect scatter"


def _queued(runs: Iterable[Run], cpus: int) -> Iterator[str]:
    """Runs that began while other threads occupied every processor."""
    queued = [run.runnable_before for run in runs if run.runnable_before is not None]
    full = sum(threads >= cpus for threads in queued)
    if len(queued) >= FEWEST_RUNS and 2 * full > len(queued):
        yield (
            f"before {full} of {len(queued)} runs other programs kept every processor busy "
            f"(up to {max(queued)} runnable threads on {cpus})"
        )


def _held_back(runs: Iterable[Run]) -> Iterator[str]:
    """Runs that other programs kept from the processor."""
    pairs = [
        (run.voluntary_switches, run.involuntary_switches)
        for run in runs
        if run.voluntary_switches is not None and run.involuntary_switches is not None
    ]
    lost = sum(involuntary > voluntary for voluntary, involuntary in pairs)
    if len(pairs) >= FEWEST_RUNS and 2 * lost > len(pairs):
        yield (
            f"{lost} of {len(pairs)} runs lost the processor more often than they gave it up: "
            "wall time contains the time of other programs"
        )


def _paged(runs: Iterable[Run]) -> Iterator[str]:
    faults = [run.major_faults for run in runs if run.major_faults]
    if faults:
        one = len(faults) == 1
        yield (
            f"{len(faults)} run{'' if one else 's'} waited for the disk: {'' if one else 'up to '}"
            f"{max(faults)} major fault{'' if max(faults) == 1 else 's'}"
            f"{'' if one else ' in one run'}"
        )


def _erratic(comparison: Comparison) -> Iterator[str]:
    """A figure that scatters so much that a race cannot decide by it."""
    for name, view in views(comparison):
        figure = view.design.race
        summary = None if figure is None else view.response(figure)
        if summary is None or figure is None or view.race is None or view.race.named is not None:
            continue
        if (scatter := summary.residual_sd) is not None and scatter > ERRATIC:
            where = f" at {name}" if name else ""
            yield (
                f"{WORDS[figure]}{where} varies by {scatter:.0%} from run to run: fix the seeds of "
                "the program (PERL_HASH_SEED=0, PYTHONHASHSEED=0), use a longer input, or count "
                "with --exact"
            )
