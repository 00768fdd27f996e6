# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Regions and reaps beside the best known arenas, on the loads of a parser and of a compiler.

All arenas run in one process, in turn and in another order each time. The figure is the ratio of an
arena's processor time to that of the region in the same round. It is the median over all rounds of
several processes, with a 95 % interval of the median (by order statistics). Instructions are those
of one run, by callgrind, and exact. With --general the same loads on malloc, under `lea` and under
`reap`, in processes that take turns.

The bars: A reap that is used as a region is within 8 % of the region. The region is no slower than
the fastest of the others. A reap as a region is faster than many heaps and vmalloc's regions. A
reap that frees single objects is within 10 % of the fastest other. `reap` as a
program's malloc is within 10 % of `lea`. Exit status 1 if the whole interval of a figure misses its
bar.
"""

import argparse
import json
import math
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heapwright.base.native import library

ROOT = Path(__file__).resolve().parents[2]
WORKLOADS = ROOT / "workloads"
SOURCES = [
    ROOT / "benchmarks" / "regions" / "arenas.cpp",
    WORKLOADS / "regions" / "documents.cpp",
    WORKLOADS / "regions" / "compiler" / "sources.cpp",
    *(
        WORKLOADS / "support" / f"{name}.cpp"
        for name in ("bump", "calls", "fatal_error", "memory", "text")
    ),
    *(ROOT / "native" / "capi" / f"{name}.cpp" for name in ("reap", "region")),
]
INCLUDES = [f"-I{WORKLOADS}", f"-I{ROOT / 'include'}", f"-I{ROOT / 'native'}"]
LOADS = ("parser", "compiler")
OURS = ("region", "region in C")
AS_REGIONS = ("reap as a region", "reap in C as a region")
FREEING = ("reap", "reap in C")
SAME_SEMANTICS = ("many heaps of Windows XP", "vmalloc regions")
"""They also free single objects and end as a whole (Berger 2002, figure 6.4)."""
OTHERS = ("std::pmr::monotonic_buffer_resource", "GNU obstack", "APR pool")


def output(command: Sequence[str | Path], preload: Path | None = None) -> str:
    environment = {**os.environ} if preload is None else {**os.environ, "LD_PRELOAD": str(preload)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stderr}")
    return done.stdout


def apr() -> list[str] | None:
    """What compiles and links a program of APR's; None where it is not."""
    done = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "apr-1"], capture_output=True, text=True, check=False
    )
    return done.stdout.split() if done.returncode == 0 else None


def build(folder: Path, compiler: str = "g++") -> Path:
    program = folder / "arenas"
    found = apr()
    flags = [] if found is None else ["-DWITH_APR", *found]
    options = ["-std=c++20", "-O2", *INCLUDES]
    output([compiler, *options, *SOURCES, *flags, "-pthread", "-ldl", "-o", program])
    return program


@dataclass(frozen=True, slots=True)
class Ratio:
    """A median with its 95 % interval."""

    low: float
    median: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Ratio":
        """The interval is between two order statistics, by the binomial distribution's normal."""
        ordered = sorted(values)
        count = len(ordered)
        half = 0.98 * math.sqrt(count)
        first = max(0, math.floor(count / 2 - half))
        last = min(count - 1, math.ceil(count / 2 + half))
        return cls(ordered[first], statistics.median(ordered), ordered[last])

    def __str__(self) -> str:
        return f"{self.median:6.3f}  [{self.low:.3f}, {self.high:.3f}]"


def ratios(program: Path, load: str, processes: int, rounds: int) -> dict[str, Ratio]:
    """Ratios of each arena to the region."""
    found: dict[str, list[float]] = {}
    for _ in range(processes):
        times = json.loads(output([program, load, str(rounds)]))
        for name, seconds in times.items():
            pairs = zip(seconds, times["region"], strict=True)
            found.setdefault(name, []).extend(mine / region for mine, region in pairs)
    return {name: Ratio.of(values) for name, values in found.items()}


def instructions(program: Path, load: str, arena: str) -> int | None:
    """Of one run of a load; None where valgrind is not."""
    if shutil.which("valgrind") is None:
        return None
    with tempfile.TemporaryDirectory(prefix="heapwright-arenas-") as folder:
        counts = Path(folder) / "counts"
        callgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={counts}"]
        output([*callgrind, "--toggle-collect=measured", program, load, "1", arena])
        totals = re.findall(r"^(?:totals|summary): (\d+)", counts.read_text(), re.MULTILINE)
    return max(map(int, totals))


def general(program: Path, load: str, processes: int, rounds: int) -> Ratio:
    """`reap` as the program's malloc to `lea`, each process once under either, in either order."""
    found = []
    for _ in range(processes):
        times: dict[str, float] = {}
        for name in random.sample(["lea", "reap"], 2):
            lines = json.loads(output([program, load, str(rounds), "malloc"], library(name)))
            times[name] = min(lines["malloc"])
        found.append(times["reap"] / times["lea"])
    return Ratio.of(found)


def bars(found: dict[str, Ratio]) -> list[tuple[str, bool]]:
    """What must hold of one load, and whether it is missed by the whole interval."""
    fastest = min((name for name in OTHERS if name in found), key=lambda name: found[name].median)
    other = found[fastest]
    lines = [
        (f"{name} at most 1.08 of the region: {found[name]}", found[name].low > 1.08)
        for name in AS_REGIONS
    ]
    lines.append((f"the region no slower than {fastest}: that is {other}", other.high < 1))
    reap = found[AS_REGIONS[0]]
    lines += [
        (f"{AS_REGIONS[0]} faster than {name}: that is {found[name]}", found[name].high < reap.low)
        for name in SAME_SEMANTICS
    ]
    lines += [
        (
            f"{name} at most 1.10 of {fastest}: {found[name].median / other.median:.3f}",
            found[name].low > 1.10 * other.high,
        )
        for name in FREEING
    ]
    return lines


def show(load: str, found: dict[str, Ratio], counts: dict[str, int | None]) -> None:
    print(f"{load}: processor time and instructions as a ratio to the region")
    base = counts.get("region")
    for name, ratio in found.items():
        count = counts.get(name)
        part = f"{count / base:6.3f}" if count is not None and base is not None else "     -"
        print(f"  {name:38} {ratio}  {part}")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--processes", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=15, help="in each process")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--no-instructions", action="store_true")
    parser.add_argument("--general", action="store_true", help="needs the installed libraries")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    if shutil.which(options.compiler) is None:
        print(f"arenas: no {options.compiler} here (package g++)", file=sys.stderr)
        return 2
    missed = False
    with tempfile.TemporaryDirectory(prefix="heapwright-arenas-") as folder:
        program = build(Path(folder), options.compiler)
        for load in LOADS:
            found = ratios(program, load, options.processes, options.rounds)
            counts: dict[str, int | None] = {}
            if not options.no_instructions:
                counts = {name: instructions(program, load, name) for name in found}
            show(load, found, counts)
            for line, miss in bars(found):
                print(f"  {'MISSED' if miss else 'holds '} {line}")
                missed = missed or miss
            if options.general:
                ratio = general(program, load, 3 * options.processes, options.rounds)
                print(f"  {'MISSED' if ratio.low > 1.10 else 'holds '} reap to lea: {ratio}")
                missed = missed or ratio.low > 1.10
            print()
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
