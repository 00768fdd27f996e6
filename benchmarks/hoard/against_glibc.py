# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Hoard 3.8 against the C library's malloc, tcache and all, on loop, larson and threadtest.

    python benchmarks/hoard/against_glibc.py [-n BLOCKS] [-a ALLOCATOR] [-o FILE]

In each block every program runs once under each of the two at 1, 2 and 8 threads, in an order drawn
anew. A cell is the ratio of times per operation, as the geometric mean over the blocks. The last
line is the geometric mean of all cells, with a 95 % t-interval over the blocks. The sizes of loop
go to 1 KiB, as in `heapwright workloads`. Sizes to 32 KiB, the largest published, are listed
separately and are in no mean. Prints Markdown; run it with the environment that has the tool.
"""

import argparse
import math
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import variants
from scipy import stats

from heapwright.base import native

PROGRAMS: dict[str, tuple[str, tuple[str, ...]]] = {
    "loop": ("loop", ("--iterations", "3000000")),
    "larson": ("larson", ("--lives", "20")),
    "threadtest": ("threadtest", ()),
    "loop, to 32 KiB": ("loop", ("--iterations", "1000000", "--max", "32768")),
}
APART = {"loop, to 32 KiB"}
THREADS = (1, 2, 8)
Cell = tuple[str, int]


def per_operation(library: Path | None, cell: Cell, seed: int) -> float:
    """Seconds for each call of the allocator in one run."""
    program, options = PROGRAMS[cell[0]]
    words = ["--threads", str(cell[1]), "--seed", str(seed), *options]
    result = variants.run(library, program, words)
    return result.seconds / float(result.line["operations"])


def block(library: Path, cells: Sequence[Cell], number: int) -> list[float]:
    """The logarithm of each cell's ratio."""
    order = [(cell, under) for cell in cells for under in (library, None)]
    random.Random(f"against/{number}").shuffle(order)
    seconds = {(cell, under): per_operation(under, cell, number + 1) for cell, under in order}
    return [math.log(seconds[cell, library] / seconds[cell, None]) for cell in cells]


def said(logarithms: Sequence[float]) -> str:
    """Geometric mean and 95 % t-interval."""
    values = np.asarray(logarithms)
    half = stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / math.sqrt(len(values))
    mean = values.mean()
    low, high = math.exp(mean - half), math.exp(mean + half)
    return f"{math.exp(mean):.3f} ({low:.3f} to {high:.3f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-n", "--blocks", type=int, default=10, help="blocks of runs")
    parser.add_argument("-a", "--allocator", default="hoard-3.8", help="instead of hoard-3.8")
    parser.add_argument("-o", "--output", type=Path, help="write there instead of printing")
    given = parser.parse_args()
    if given.blocks < 2:
        parser.error("an interval needs two blocks")
    library = native.library(given.allocator)
    cells = [(program, threads) for program in PROGRAMS for threads in THREADS]
    rows = [block(library, cells, number) for number in range(given.blocks + 1)][1:]  # one warms up
    ratios = dict(zip(cells, zip(*rows, strict=True), strict=True))
    lines = [
        f"| program | {' | '.join(f'{each} threads' for each in THREADS)} |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {program} | {' | '.join(said(ratios[program, each]) for each in THREADS)} |"
        for program in PROGRAMS
    ]
    counted = [at for at, (program, _threads) in enumerate(cells) if program not in APART]
    mean = [sum(row[at] for at in counted) / len(counted) for row in rows]
    lines.append(f"\nGeometric mean of all but {', '.join(sorted(APART))}: {said(mean)}")
    text = "\n".join(lines) + "\n"
    if given.output is None:
        print(text, end="")
    else:
        given.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
