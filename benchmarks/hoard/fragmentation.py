# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Fragmentation A/U of Hoard at the published setting, beside the published figures.

    python benchmarks/hoard/fragmentation.py [--seeds N] [-o FILE]

It uses 14 threads and 28 heaps, for any number of processors (Berger 2002, table 7.3). A is the
exact peak of bytes in superblocks. U is the peak of live bytes, in requested sizes. A/U has three
factors: the overhead of superblocks, free slots, and the rounding of sizes. Further runs let
successors inherit the heap, use K = 1, and use one heap. They show which factors come from threads.
Prints Markdown; run it with the environment that has the tool.
"""

import argparse
import math
import tempfile
from collections.abc import Sequence
from pathlib import Path

import variants

THREADS = 14
PUBLISHED = {"threadtest": 1.24, "larson": 1.22, "barnes-hut": 1.18}
OPTIONS: dict[str, tuple[str, ...]] = {
    # Published: 10,000,000 objects in all; the peak is the same after a few rounds.
    "threadtest": ("--rounds", "100"),
    # Published: 30 s. Ten generations, each replacing every block twice; U is at its maximum then.
    "larson": ("--lives", "10", "--steps", "20000"),
    # Published: 20 rounds; a tree is freed as the next one stands.
    "barnes-hut": ("--rounds", "5"),
}
FORMS = {
    "Published": "as published",
    "FollowOn": "successors inherit the heap",
    "KeepsOne": "K = 1",
    "OneHeap": "one heap",
}


def nominal(workload: str) -> int | None:
    """U where all threads run at the same time, if that follows from the parameters."""
    return 100_000 // THREADS * THREADS * 8 if workload == "threadtest" else None


def mean(values: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def measured(library: Path, workload: str, seeds: int) -> list[variants.Result]:
    common = ["--threads", str(THREADS), "--observe", "memory"]
    return [
        variants.run(library, workload, [*common, "--seed", str(seed), *OPTIONS[workload]])
        for seed in range(1, seeds + 1)
    ]


def row(workload: str, form: str, results: Sequence[variants.Result]) -> str:
    ratios = [result.superblocks / result.peak_live for result in results]
    own = mean([result.superblocks / result.slots for result in results])
    waiting = mean([result.slots / result.live for result in results])
    rounding = mean([result.live / result.peak_live for result in results])
    most = max(result.superblocks for result in results)
    live = nominal(workload) or max(result.peak_live for result in results)
    together = most / live
    apart = 100 * (together / PUBLISHED[workload] - 1)
    cells = [
        workload,
        FORMS[form],
        f"{mean(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})",
        f"{own:.2f}, {waiting:.2f}, {rounding:.2f}",
        f"{together:.2f}",
        f"{PUBLISHED[workload]:.2f}",
        f"{apart:+.0f} %",
    ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5, help="runs of each")
    parser.add_argument("-o", "--output", type=Path, help="write there instead of printing")
    given = parser.parse_args()
    head = [
        "workload",
        "form",
        "A/U (least to most)",
        "superblocks' own, waiting slots, rounding",
        "A/U, all threads at a time",
        "published",
        "apart",
    ]
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    with tempfile.TemporaryDirectory(prefix="heapwright-variants-") as folder:
        for form in FORMS:
            library = variants.build(form, Path(folder))
            lines += [
                row(workload, form, measured(library, workload, given.seeds))
                for workload in PUBLISHED
            ]
    text = "\n".join([*lines[:2], *sorted(lines[2:], key=order)]) + "\n"
    if given.output is None:
        print(text, end="")
    else:
        given.output.write_text(text, encoding="utf-8")


def order(line: str) -> tuple[int, int]:
    """By workload as published, then by form."""
    _, workload, form, *_ = (cell.strip() for cell in line.split("|"))
    return list(PUBLISHED).index(workload), list(FORMS.values()).index(form)


if __name__ == "__main__":
    main()
