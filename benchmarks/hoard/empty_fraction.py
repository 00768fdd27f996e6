# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Hoard's empty fraction at 1/8, 1/4 and 1/2: what it does to time and to fragmentation.

    python benchmarks/hoard/empty_fraction.py [-n BLOCKS] [--threads N] [-o FILE]

The sensitivity study of Berger 2002 (table 7.5). In each block every fraction runs every workload
once, in a new random order. A ratio of times is that of 1/8 or 1/2 to 1/4. It has a simultaneous 95
% interval from the blocked model of `heapwright compare`. Fragmentation A/U is from separate runs
that observe memory. Prints Markdown; run it with the environment that has the tool.
"""

import argparse
import math
import random
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import variants

from heapwright.analysis.blocked import Cells, fit
from heapwright.analysis.intervals import dunnett

# The baseline first, as the model has it.
FRACTIONS = {"1/4": "Quarter", "1/8": "Eighth", "1/2": "Half"}
SHOWN = ("1/8", "1/4", "1/2")
OPTIONS: dict[str, tuple[str, ...]] = {
    "threadtest": ("--rounds", "50"),
    "shbench": ("--scale", "0.3"),
    "larson": ("--lives", "5", "--steps", "20000"),
    "barnes-hut": ("--rounds", "3"),
    "producer-consumer": (),
}


def options(workload: str, threads: int, seed: int) -> list[str]:
    return ["--threads", str(threads), "--seed", str(seed), *OPTIONS[workload]]


def times(
    libraries: dict[str, Path], workload: str, threads: int, blocks: int
) -> list[list[float]]:
    """Seconds, a row for each block, a column for each fraction; the fractions interleaved."""
    chosen = random.Random(workload)
    rows = []
    for block in range(blocks + 1):
        seconds = {}
        for fraction in chosen.sample(list(FRACTIONS), len(FRACTIONS)):
            result = variants.run(
                libraries[fraction], workload, options(workload, threads, block + 1)
            )
            seconds[fraction] = result.seconds
        if block > 0:  # the first warms up
            rows.append([seconds[fraction] for fraction in FRACTIONS])
    return rows


def ratios(rows: Sequence[Sequence[float]], level: float = 0.95) -> dict[str, str]:
    """How each fraction's time compares with that at 1/4."""
    cells = Cells(tuple((fraction, "") for fraction in FRACTIONS), np.log(np.array(rows)))
    fitted = fit(cells)
    intervals = dunnett(fitted, level)
    said = {"1/4": "1"}
    for at, fraction in enumerate(FRACTIONS):
        if at > 0:
            effect = math.exp(fitted.effects[at])
            low, high = math.exp(intervals.low[at]), math.exp(intervals.high[at])
            said[fraction] = f"{effect:.3f} ({low:.3f} to {high:.3f})"
    return said


def fragmentation(library: Path, workload: str, threads: int, runs: int) -> str:
    """A/U over several seeds: the mean, the least and the most."""
    values = []
    for seed in range(1, runs + 1):
        result = variants.run(
            library, workload, ["--observe", "memory", *options(workload, threads, seed)]
        )
        values.append(result.superblocks / result.peak_live)
    mean = math.exp(sum(map(math.log, values)) / len(values))
    return f"{mean:.2f} ({min(values):.2f} to {max(values):.2f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-n", "--blocks", type=int, default=10, help="blocks of runs")
    parser.add_argument("--threads", type=int, default=14, help="of each workload")
    parser.add_argument("--fragmentation-runs", type=int, default=3)
    parser.add_argument("-o", "--output", type=Path, help="write there instead of printing")
    given = parser.parse_args()
    if given.blocks < 2:
        parser.error("an interval needs two blocks")
    head = [f"time at {fraction}" for fraction in SHOWN] + [f"A/U at {each}" for each in SHOWN]
    lines = [f"| workload | {' | '.join(head)} |", "|---|" + "---|" * len(head)]
    with tempfile.TemporaryDirectory(prefix="heapwright-variants-") as folder:
        libraries = {
            fraction: variants.build(variant, Path(folder))
            for fraction, variant in FRACTIONS.items()
        }
        for workload in OPTIONS:
            said = ratios(times(libraries, workload, given.threads, given.blocks))
            cells = [said[fraction] for fraction in SHOWN] + [
                fragmentation(libraries[each], workload, given.threads, given.fragmentation_runs)
                for each in SHOWN
            ]
            lines.append(f"| {workload} | {' | '.join(cells)} |")
            print(lines[-1], flush=True)
    text = "\n".join(lines) + "\n"
    if given.output is None:
        print(text, end="")
    else:
        given.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
