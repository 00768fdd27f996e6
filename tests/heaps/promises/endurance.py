# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Endurance: a thousand million operations by several threads, verified, in bounded memory.

    python tests/heaps/promises/endurance.py [--operations N] [--threads T]
        [--allocator A] [--log F]

Runs programs/endurance.cpp under the allocator and says each few seconds how far it is, what is
live and what is resident. More resident memory than the bound is a failure, as are wrong contents.
Each run, whole or interrupted, is written to the log. A new start with the same log continues where
the last one stopped. Operations of the same build of the library count. Leaves with 1 if the run
was at fault.
"""

import argparse
import contextlib
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from heapwright.base import native

SOURCE = Path(__file__).parent / "programs" / "endurance.cpp"
OPTIONS = ["-std=c++20", "-O2", "-fno-builtin-malloc", "-pthread"]
OPERATIONS = 1_000_000_000
THREADS = 24

# The statement of docs/explanation/granary-promises.md, for a mixture of sizes. For each thread and
# one heap more there are K superblocks for each class, and at most the factor of the live bytes. A
# page may be resident for the first byte in it, which the factor of whole superblocks covers.
FACTOR = 2.0
EACH_BYTES = 6 << 20


@dataclass(frozen=True)
class Run:
    """One process and what it came to; `fault` says what was wrong."""

    allocator: str
    library: str
    threads: int
    seed: int
    operations: int
    most_live: int
    most_resident: int
    forks: int
    lives: int
    fault: str | None

    @property
    def bound(self) -> int:
        """How much may be resident."""
        return bound(self.most_live, self.threads)


def bound(most_live: int, threads: int) -> int:
    return round(FACTOR * most_live) + (threads + 1) * EACH_BYTES


def compiled(folder: Path) -> Path:
    """The program, built from its source unless that was done since."""
    program = folder / "endurance"
    if not program.exists() or program.stat().st_mtime < SOURCE.stat().st_mtime:
        compiler = shutil.which("c++") or shutil.which("g++")
        if compiler is None:
            raise FileNotFoundError("no C++ compiler (package g++)")
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run([compiler, *OPTIONS, SOURCE, "-o", program], check=True)
    return program


def fingerprint(allocator: str) -> str:
    """Which build of an allocator it is."""
    return hashlib.sha256(native.library(allocator).read_bytes()).hexdigest()[:16]


def endure(
    program: Path, allocator: str, operations: int, *, threads: int, seed: int, aloud: bool = False
) -> Run:
    """One process, to its end or until this one is interrupted or it is beyond the bound."""
    plain = {key: value for key, value in os.environ.items() if not key.startswith("LD_")}
    with subprocess.Popen(
        [program, str(operations), str(threads), str(seed)],
        env=plain | {"LD_PRELOAD": str(native.library(allocator))},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        last: dict[str, int] = {}
        beyond = None
        assert process.stdout is not None
        assert process.stderr is not None
        for last in _lines(process):
            if last["most_resident"] > bound(last["most_live"], threads) and beyond is None:
                beyond = f"{last['most_resident']:,} bytes resident for {last['most_live']:,}"
                process.send_signal(signal.SIGTERM)
            if aloud:
                _say(last)
        errors = process.stderr.read().strip()
        status = process.wait()
    fault = beyond or (None if status == 0 else f"status {status}: {errors}")
    if fault is None and not last.get("done"):
        fault = f"it ended without a result: {errors}"
    return Run(
        allocator,
        fingerprint(allocator),
        threads,
        seed,
        operations=last.get("operations", 0),
        most_live=last.get("most_live", 0),
        most_resident=last.get("most_resident", 0),
        forks=last.get("forks", 0),
        lives=last.get("lives", 0),
        fault=fault,
    )


def _lines(process: subprocess.Popen[str]) -> Iterator[dict[str, int]]:
    """What it says. An interrupt is a request to end."""
    assert process.stdout is not None
    while True:
        try:
            line = process.stdout.readline()
        except KeyboardInterrupt:
            process.send_signal(signal.SIGTERM)
            continue
        if not line:
            return
        yield json.loads(line)


def _say(line: dict[str, int]) -> None:
    print(
        f"{line['operations']:>15,} operations  {line['live'] / 1e6:7.1f} MB live"
        f"  {line['resident'] / 1e6:7.1f} MB resident  most {line['most_resident'] / 1e6:.1f}"
        f" for {line['most_live'] / 1e6:.1f}",
        flush=True,
    )


def read_log(path: Path) -> list[Run]:
    """What earlier processes came to."""
    runs = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        with contextlib.suppress(ValueError, TypeError):
            runs.append(Run(**json.loads(line)))
    return runs


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--operations", type=float, default=OPERATIONS, help="in all")
    parser.add_argument("--threads", type=int, default=THREADS)
    parser.add_argument("--allocator", default="granary")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1, 1 << 31))
    parser.add_argument("--log", type=Path, default=Path("build/endurance.jsonl"))
    parser.add_argument("--build", type=Path, default=Path("build/endurance"))
    given = parser.parse_args()
    library = fingerprint(given.allocator)
    before = [run for run in read_log(given.log) if run.library == library and not run.fault]
    left = int(given.operations) - sum(run.operations for run in before)
    print(f"endurance: {given.allocator}, seed {given.seed}, {max(left, 0):,} operations to go")
    if left <= 0:
        return 0
    program = compiled(given.build)
    run = endure(program, given.allocator, left, threads=given.threads, seed=given.seed, aloud=True)
    given.log.parent.mkdir(parents=True, exist_ok=True)
    with given.log.open("a", encoding="utf-8") as log:
        log.write(json.dumps(asdict(run)) + "\n")
    print(
        f"endurance: {run.operations:,} operations, {run.lives:,} threads, {run.forks} forks;"
        f" at most {run.most_resident / 1e6:.1f} MB resident for {run.most_live / 1e6:.1f} MB live,"
        f" the bound is {run.bound / 1e6:.1f} MB"
    )
    if run.fault is not None:
        print(f"FAULT: {run.fault}")
    return 0 if run.fault is None else 1


if __name__ == "__main__":
    sys.exit(main())
