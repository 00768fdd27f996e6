# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Time and memory of `heapwright analyse` for 100,000 stored runs, beside R.

The runs are drawn (seeded) for a design of the size of a large published one. It has six factors of
3, 3, 6, 6, 2 and 6 levels, 3,888 treatments, in 26 blocks. R reads the same runs from a CSV file
and does a part of what `analyse` does. This part is `aov` with blocks, main effects and all
interactions of two factors, and `TukeyHSD` of the allocators. `analyse` reads the results folder
and does everything: the same over all allocators and for each, aligned ranks, means, rankings with
intervals, growth. The two alternate, each in a new process.

Needs Rscript (r-base-core) for R's side.
"""

import argparse
import itertools
import json
import math
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.study.treatment import treatment_id
from heapwright.artefacts.study_results.runs import (
    DESIGN_FILE,
    RUNS_FILE,
    STUDY_FILE,
    Cell,
    Factor,
    Header,
    Measured,
    StudyDesign,
    StudyRun,
)

LIMIT_BYTES = 1 << 30
FACTORS = {
    "allocations": ("500000", "1000000", "10000000"),
    "size": ("16..64", "64..512", "512..2048"),
    "threads": ("1", "2", "4", "8", "16", "32"),
    "cpus": ("1", "2", "4", "8", "16", "32"),
    "pattern": ("peak", "growing"),
    "allocator": ("glibc", "jemalloc", "mimalloc", "hoard", "tcmalloc", "kingsley"),
}
QUANTITIES = ("allocations", "threads", "cpus")
ANALYSIS = """
d <- read.csv("runs.csv", stringsAsFactors = TRUE)
for (name in c("block", "allocations", "threads", "cpus")) d[[name]] <- factor(d[[name]])
model <- aov(log(time) ~ block + (allocations + size + threads + cpus + pattern + allocator)^2, d)
print(summary(model))
print(TukeyHSD(model, "allocator"))
"""


@dataclass(frozen=True)
class Cost:
    seconds: float
    processor_seconds: float
    peak_bytes: int


def design_of(blocks: int) -> StudyDesign:
    """The whole factorial."""
    cells = []
    for levels in itertools.product(*FACTORS.values()):
        named = dict(zip(FACTORS, levels, strict=True))
        cells.append(Cell(id=treatment_id(named), levels=named, allocator=named["allocator"]))
    return StudyDesign(
        study="rate",
        sha256="0",
        seed=1,
        blocks=blocks,
        factors=tuple(
            Factor(
                name=name,
                levels=levels,
                values=tuple(map(float, levels)) if name in QUANTITIES else (),
                role="allocator" if name == "allocator" else "parameter",
            )
            for name, levels in FACTORS.items()
        ),
        treatments=tuple(cells),
        responses=(Measured(name="time", unit="s"),),
        baseline="glibc",
        options={"interactions": [["cpus", "threads", "allocations"]]},
    )


def write_runs(folder: Path, design: StudyDesign) -> int:
    """Write the results folder and the CSV file. Returns the number of runs."""
    draws = random.Random(1)
    results = folder / "results"
    results.mkdir()
    (results / STUDY_FILE).write_text("", encoding="utf-8")
    (results / DESIGN_FILE).write_text(design.model_dump_json(), encoding="utf-8")
    usual = {cell.id: draws.gauss(0, 1) for cell in design.treatments}
    runs = 0
    with (
        (results / RUNS_FILE).open("w", encoding="utf-8") as lines,
        (folder / "runs.csv").open("w", encoding="utf-8") as table,
    ):
        print(Header.of(design).model_dump_json(), file=lines)
        print(",".join([*FACTORS, "block", "time"]), file=table)
        for block in range(1, design.blocks + 1):
            shift = draws.gauss(0, 0.05)
            order = draws.sample(design.treatments, len(design.treatments))
            for position, cell in enumerate(order):
                value = math.exp(usual[cell.id] + shift + draws.gauss(0, 0.03))
                run = StudyRun(
                    allocator=cell.allocator,
                    level=cell.id,
                    block=block,
                    position=position,
                    outcome=Outcome.OK,
                    exit_status=0,
                    wall_s=value,
                    interposed=True,
                    host="here",
                    began=float(runs),
                    responses={"time": value},
                )
                print(run.split()[1], file=lines)
                print(",".join([*cell.levels.values(), str(block), f"{value!r}"]), file=table)
                runs += 1
    return runs


def cost_of(command: Sequence[str], folder: Path) -> Cost:
    """Run a command; wall time, and processor time and peak memory as the kernel tells them."""
    begin = time.perf_counter()
    with (folder / "said.txt").open("w", encoding="utf-8") as said:
        process = subprocess.Popen(command, cwd=folder, stdout=said, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command[0]} failed:\n{(folder / 'said.txt').read_text()}")
    seconds = time.perf_counter() - begin
    return Cost(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def main() -> int:
    """Measure, print, and say whether the limits hold."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--blocks", type=int, default=26, help="of 3,888 runs")
    parser.add_argument("-n", "--repetitions", type=int, default=3)
    parser.add_argument("--json", type=Path, help="write the figures here")
    given = parser.parse_args()
    rscript = shutil.which("Rscript")
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        runs = write_runs(folder, design_of(given.blocks))
        commands = {
            "heapwright analyse": [
                *(sys.executable, "-m", "heapwright", "analyse", "results", "-o", "analysis.json")
            ]
        }
        if rscript is None:
            print("Rscript is not installed (r-base-core): heapwright alone")
        else:
            (folder / "analysis.R").write_text(ANALYSIS, encoding="utf-8")
            commands["R: aov, TukeyHSD"] = [rscript, "--vanilla", "analysis.R"]
        costs: dict[str, list[Cost]] = {name: [] for name in commands}
        for _ in range(given.repetitions):
            for name, command in commands.items():
                costs[name].append(cost_of(command, folder))
    print(f"{runs:,} runs, {given.repetitions} times by turns")
    medians = {}
    for name, each in costs.items():
        seconds = statistics.median(cost.seconds for cost in each)
        processor = statistics.median(cost.processor_seconds for cost in each)
        peak = max(cost.peak_bytes for cost in each)
        medians[name] = {"seconds": seconds, "processor_seconds": processor, "peak_bytes": peak}
        print(f"{name:20} {seconds:7.1f} s, {processor:7.1f} s of a processor, ", end="")
        print(f"{peak / 2**20:7,.0f} MiB")
    if given.json:
        given.json.write_text(json.dumps({"runs": runs, **medians}, indent=1), encoding="utf-8")
    ours = medians["heapwright analyse"]
    slower = any(ours["seconds"] > other["seconds"] for other in medians.values())
    return int(slower or ours["peak_bytes"] > LIMIT_BYTES)


if __name__ == "__main__":
    sys.exit(main())
