# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Memory that stays resident after threads freed what other threads had allocated.

    python benchmarks/calls/remote_frees.py [-a NAMES] [--runs N] [--csv FILE] [--json FILE]

The program remote_frees.c allocates 200 MiB in four threads and frees all of it in four other
threads. These then continue with a little work for a second. The program runs once with each size
of objects in SIZES, under each allocator in turn, N times. The figures are MiB beyond the start.
"""

import csv
import io
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass, fields
from pathlib import Path

from libraries import (
    FailedError,
    allocators,
    compiled,
    output,
    parser,
    say_failed,
    say_left_out,
    table,
    under,
    write,
)

from heapwright.artefacts.run.provenance import Allocator

MEBIBYTES, THREADS, WAIT_MS = 200, 4, 1000
SIZES = {64: "64 B", 400: "400 B", 2000: "2,000 B", 0: "16 to 8,000 B"}
MIB = 1 << 20


@dataclass(frozen=True)
class Run:
    """One run: resident bytes beyond the start."""

    allocator: str
    size: int
    """Of each object; 0: mixed sizes."""
    full: int
    at_once: int
    later: int


def measure(program: Path, used: Sequence[Allocator], runs: int) -> list[Run]:
    """All runs, the allocators in turn. An allocator that fails is left out."""
    found = []
    failed = set()
    for _ in range(runs):
        for size in SIZES:
            for allocator in used:
                words = [str(program), *map(str, (MEBIBYTES, THREADS, WAIT_MS, size))]
                try:
                    figures = output(words, under(allocator)).decode().split(",")
                except FailedError as error:
                    if allocator.name not in failed:
                        say_failed(allocator, error)
                    failed.add(allocator.name)
                else:
                    found.append(Run(allocator.name, size, *map(int, figures)))
    return [run for run in found if run.allocator not in failed]


def as_csv(runs: Sequence[Run]) -> str:
    """The runs, one in a line."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(field.name for field in fields(Run))
    writer.writerows(map(astuple, runs))
    return text.getvalue()


def from_csv(text: str) -> list[Run]:
    """What `as_csv` wrote."""
    rows = csv.DictReader(io.StringIO(text))
    return [
        Run(row["allocator"], *(int(row[name]) for name in ("size", "full", "at_once", "later")))
        for row in rows
    ]


def medians(runs: Sequence[Run]) -> dict[str, dict[int, float]]:
    """MiB after the wait by allocator and size: medians. The least mean comes first."""
    names = dict.fromkeys(run.allocator for run in runs)
    found = {
        name: {
            size: statistics.median(
                run.later / MIB for run in runs if (run.allocator, run.size) == (name, size)
            )
            for size in SIZES
        }
        for name in names
    }
    return dict(sorted(found.items(), key=lambda each: statistics.fmean(each[1].values())))


def as_table(runs: Sequence[Run]) -> str:
    rows = [
        (name, *(f"{of_size[size]:.1f}" for size in SIZES))
        for name, of_size in medians(runs).items()
    ]
    return table(("MiB resident after the frees", *SIZES.values()), rows)


def main() -> int:
    options = parser(__doc__)
    options.add_argument("--runs", type=int, default=3, help="runs of each (3)")
    options.add_argument("--csv", type=Path, help="write the runs into this file")
    given = options.parse_args()
    used, left = allocators(given.names)
    say_left_out(left)
    with tempfile.TemporaryDirectory(prefix="heapwright-frees-") as folder:
        program = compiled("remote_frees.c", Path(folder), "-pthread")
        runs = measure(program, used, given.runs)
    if given.csv is not None:
        given.csv.write_text(as_csv(runs), encoding="utf-8")
    write(given.json, [asdict(run) for run in runs], used)
    sys.stdout.write(as_table(runs))
    return 0


if __name__ == "__main__":
    sys.exit(main())
