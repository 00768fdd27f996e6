# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The cost of a run under the engine, beside the distribution's hyperfine without a shell.

Both run the same command, which does almost nothing, RUNS times. In every round each tool does this
once, in a new random order. The engine does the full work of a study. It draws the order, starts
the command under its runner with the proof of an allocator, and watches the memory of its tree. It
also reads the provider of malloc in each process, classifies the outcome, and writes the run.
Start-up is in neither figure: for hyperfine the time of two runs is subtracted. The output is
seconds per run, elapsed and of the processors, and their ratios. A ratio is the geometric mean over
the rounds with a 95 % interval.

The engine's additional cost is the same for any command, so the ratio falls for longer commands.
The last line gives the length of a command from which the ratio is below two.

Usage: engine_cost.py [ROUNDS [RUNS]]. On a machine with other work, use the time of the processors,
which scatters less. As root, `chrt -f 20` before the command keeps that work away. The exit status
is 1 if the ratio is more than two for a command of 5 ms.
"""

import math
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from scipy.stats import t as student

from heapwright.artefacts.study.file import parse_study
from heapwright.artefacts.study_results.store import Store
from heapwright.base import native
from heapwright.commands.study_setup import Setup, set_up
from heapwright.experiment.blocks import Assignment, Blocks, Plan
from heapwright.experiment.engine import conduct
from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.starter import starter
from heapwright.experiment.study_measurement import StudyMeasurement

COMMAND = "/bin/true"
STUDY = f"""
format = 1
name = "cost"
title = "what a run costs"
command = ["{COMMAND}"]
[factors.allocator]
levels = ["glibc"]
[responses.time]
from = "wall"
[responses.memory]
from = "peak_rss"
"""
FEW = 2
LIMIT_S = 5e-3


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds per run."""

    elapsed: float
    processor: float


Way = Callable[[int], Cost]


def processor_time() -> float:
    """Of this process, of those that it has waited for, and of the runners."""
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages) + _of_runners()


def _of_runners() -> float:
    """Of the one that starts runners, and of all those that are over."""
    pid = starter(native.program("run")).pid
    if not pid:
        return 0.0
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def timed(work: Callable[[], object]) -> Cost:
    elapsed, processor = time.monotonic(), processor_time()
    work()
    return Cost(time.monotonic() - elapsed, processor_time() - processor)


def by_hyperfine(runs: int) -> Cost:
    def work(count: int) -> Cost:
        options = ["-N", "--style", "none", "--warmup", "0", "--runs", str(count)]
        return timed(
            lambda: subprocess.run(
                ["hyperfine", *options, COMMAND],
                check=True,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        )

    few, all_runs = work(FEW), work(runs + FEW)
    return Cost(
        (all_runs.elapsed - few.elapsed) / runs, (all_runs.processor - few.processor) / runs
    )


@contextmanager
def engine() -> Iterator[Way]:
    """The engine, set up once."""
    file = parse_study(STUDY, "the study of the cost")
    with PreloadPaths() as paths, set_up(file, 1, paths) as setup:
        yield lambda runs: by_engine(setup, paths, runs)


def by_engine(setup: Setup, paths: PreloadPaths, runs: int) -> Cost:
    measurement = StudyMeasurement(setup.job, paths)
    schedule = Blocks(Plan(setup.treatments, seed=1, blocks=runs, warmup=0))
    with (
        tempfile.TemporaryDirectory() as folder,
        Store.create(Path(folder) / "results", setup.file.text, setup.design) as store,
    ):

        def over(assignment: Assignment, run: object) -> None:
            store.keep(run)  # type: ignore[arg-type]
            schedule.over(assignment, run)  # type: ignore[arg-type]

        whole = timed(lambda: conduct(schedule, measurement.execute, over=over))
        assert len(store.made) == runs
    return Cost(whole.elapsed / runs, whole.processor / runs)


def interval(ratios: list[float]) -> tuple[float, float, float]:
    """The geometric mean and its 95 % interval."""
    logs = [math.log(ratio) for ratio in ratios]
    mean = statistics.fmean(logs)
    half = 0.0
    if len(logs) > 1:
        quantile = float(student.ppf(0.975, len(logs) - 1))
        half = quantile * statistics.stdev(logs) / math.sqrt(len(logs))
    return math.exp(mean), math.exp(mean - half), math.exp(mean + half)


def main() -> int:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    if shutil.which("hyperfine") is None:
        sys.exit("hyperfine is not installed: apt-get install hyperfine")
    costs: dict[str, list[Cost]] = {"hyperfine": [], "heapwright": []}
    with engine() as own:
        ways: dict[str, Way] = {"hyperfine": by_hyperfine, "heapwright": own}
        for _ in range(rounds):
            for name in random.sample(list(ways), len(ways)):
                costs[name].append(ways[name](runs))
    print(f"{COMMAND}, {rounds} rounds of {runs} runs; ms per run, medians")
    for kind in ("elapsed", "processor"):
        figures = {name: [getattr(cost, kind) for cost in own] for name, own in costs.items()}
        pairs = zip(figures["heapwright"], figures["hyperfine"], strict=True)
        ratio, low, high = interval([ours / theirs for ours, theirs in pairs])
        medians = {name: 1e3 * statistics.median(own) for name, own in figures.items()}
        print(
            f"{kind:9}  hyperfine {medians['hyperfine']:.3f}  heapwright "
            f"{medians['heapwright']:.3f}  ratio {ratio:.2f} ({low:.2f} to {high:.2f})"
        )
    elapsed = {name: statistics.median(cost.elapsed for cost in own) for name, own in costs.items()}
    more = elapsed["heapwright"] - elapsed["hyperfine"]
    print(f"{1e3 * more:.2f} ms more: less than twice for commands of {1e3 * more:.2f} ms and more")
    return int(more > LIMIT_S)


if __name__ == "__main__":
    sys.exit(main())
