# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Mixed stress: all workloads, 1 to 64 threads, all memory verified, over all composed allocators.

    python tests/acceptance/stress/stress.py [--minutes M] [--jobs N] [--seed S]
        [--log FILE] [-a NAMES]

Runs until M minutes of processor time are used, spread evenly over the pairs of an allocator and a
workload. Number of threads, seed and a limit of memory are drawn at random. Each run's command line
is written to the log, and to standard output if it ends badly. A new start with the same log
continues where the last one stopped. Runs of other builds of a library do not count. Leaves with 1
if any run was at fault, with 0 otherwise.
"""

import argparse
import contextlib
import hashlib
import json
import os
import random
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from heapwright.artefacts.allocator.catalogue import read_catalogue
from heapwright.base import native

MINUTES = 24.0
MOST_THREADS = 64
# What one run is to take of the processor; the scale of the workload is chosen so.
TARGET_S = 1.5
FIRST_SCALE, LEAST_SCALE, MOST_SCALE = 0.04, 0.0001, 4.0  # the first: divided by the threads
TIMEOUT_S = 600
# Every run at this distance has little memory. It may report that, and must do nothing worse.
LIMITED = 6
LIMITED_MIB = (16, 256)
NO_MEMORY = 3
# Forms of a workload beside the one it has by itself, or instead of it: the other published ones,
# larger objects, threads that live shortly.
FORMS: dict[str, tuple[tuple[str, ...], ...]] = {
    "loop": (
        (),
        ("--hold", "10"),
        ("--max", "32768"),
        ("--max", "300000", "--hold", "10", "--iterations", "100"),
    ),
    "threadtest": ((), ("--size", "700")),
    "larson": (
        ("--steps", "20000"),
        ("--steps", "1000"),
        ("--steps", "500", "--most", "20000", "--blocks", "300"),
    ),
    "producer-consumer": ((), ("--size", "9000", "--batch", "100")),
}


@dataclass(frozen=True)
class Run:
    """What is run: with this it can be run again."""

    allocator: str
    workload: str
    form: tuple[str, ...]
    threads: int
    seed: int
    scale: float
    limit_mib: int | None = None

    def command(self) -> list[str]:
        command = ["env", f"LD_PRELOAD={native.library(self.allocator)}"]
        if self.limit_mib is not None:
            # Small stacks, or 64 threads would be the first to meet the limit.
            limit = [f"--data={self.limit_mib << 20}", f"--stack={256 << 10}"]
            command = ["prlimit", *limit, "--", *command]
        program = native.native_dir() / "workloads" / self.workload
        options = ["--threads", str(self.threads), "--seed", str(self.seed)]
        return [
            *command,
            str(program),
            *options,
            "--scale",
            f"{self.scale:g}",
            *self.form,
            "--verify",
        ]


@dataclass(frozen=True)
class Ran:
    """How it went; `fault` says what was wrong."""

    run: Run
    library: str
    cpu_s: float
    wall_s: float
    fault: str | None


@cache
def fingerprint(allocator: str) -> str:
    """Which build of an allocator it is."""
    return hashlib.sha256(native.library(allocator).read_bytes()).hexdigest()[:16]


def workloads() -> list[str]:
    """The names of all that are installed."""
    folder = native.native_dir() / "workloads"
    return sorted(path.name for path in folder.iterdir() if path.is_file())


def composed() -> list[str]:
    """All allocators of the project."""
    return [
        entry.name
        for entry in read_catalogue(native.native_dir() / "catalogue" / "allocators.toml").composed
    ]


def carry_out(run: Run) -> Ran:
    """Run it to its end, and judge."""
    began = time.monotonic()
    plain = {key: value for key, value in os.environ.items() if not key.startswith("LD_")}
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            run.command(), env=plain, stdout=output, stderr=errors, start_new_session=True
        )
        late = threading.Event()

        def give_up() -> None:
            late.set()
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)

        timer = threading.Timer(TIMEOUT_S, give_up)
        timer.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
        finally:
            timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # what a fork has left behind
        output.seek(0)
        errors.seek(0)
        said = errors.read().decode(errors="replace")[-2000:]
        fault = judge(run, process.returncode, output.read(), said)
    if late.is_set():
        fault = f"not finished after {TIMEOUT_S} s"
    used = usage.ru_utime + usage.ru_stime
    wall = time.monotonic() - began
    return Ran(run, fingerprint(run.allocator), round(used, 3), round(wall, 3), fault)


def judge(run: Run, status: int, output: bytes, errors: str) -> str | None:
    """What is wrong with such an end; None if it is a good one."""
    if status == NO_MEMORY and run.limit_mib is not None:
        return None
    if status != 0:
        how = f"died of signal {-status}" if status < 0 else f"ended with status {status}"
        return f"{how}: {errors.strip() or 'and said nothing'}"
    if errors:
        return f"wrote to standard error: {errors.strip()}"
    try:
        verified = json.loads(output)["verified"]
    except (ValueError, KeyError, TypeError):
        return f"its result is no result: {output[-500:]!r}"
    return None if verified is True else "its memory was not verified"


class Stress:
    """What has run, and what is to run next; used by several threads."""

    def __init__(
        self, allocators: Sequence[str], names: Sequence[str], seed: int, target_s: float = TARGET_S
    ) -> None:
        for allocator in allocators:
            fingerprint(allocator)  # it must be there
        self.pairs = [(allocator, workload) for allocator in allocators for workload in names]
        self.used_s: defaultdict[tuple[str, str], float] = defaultdict(float)
        self.ran: list[Ran] = []
        self.target_s = target_s
        self._chosen = random.Random(seed)
        self._turns = 0

    def note(self, ran: Ran) -> None:
        """Something has run, now or before."""
        pair = ran.run.allocator, ran.run.workload
        if pair in self.pairs and ran.library == fingerprint(ran.run.allocator):
            self.used_s[pair] += ran.cpu_s
            self.ran.append(ran)

    @property
    def cpu_s(self) -> float:
        return sum(ran.cpu_s for ran in self.ran)

    @property
    def faults(self) -> list[Ran]:
        return [ran for ran in self.ran if ran.fault is not None]

    def next(self, running: Iterable[Run] = ()) -> Run:
        """One of the pairs that have had least, those that run counted as if they had ended."""
        used = dict.fromkeys(self.pairs, 0.0) | self.used_s
        for run in running:
            used[run.allocator, run.workload] += self.target_s
        allocator, workload = min(self.pairs, key=lambda p: (used[p], self._chosen.random()))
        # As many runs with 1 to 8 threads as with 8 to 64, and 64 itself often enough.
        threads = round(MOST_THREADS ** min(self._chosen.random() * 1.05, 1))
        form = self._chosen.choice(FORMS.get(workload, ((),)))
        self._turns += 1
        limited = self._turns % LIMITED == 0
        return Run(
            allocator,
            workload,
            form,
            threads,
            self._chosen.randrange(1, 1 << 31),
            self._scale(workload, form, threads),
            int(self._chosen.uniform(*LIMITED_MIB)) if limited else None,
        )

    def _scale(self, workload: str, form: tuple[str, ...], threads: int) -> float:
        """So that it takes about the target, by the run of it that had about as many threads."""
        known = [
            ran
            for ran in self.ran
            if (ran.run.workload, ran.run.form, ran.run.limit_mib) == (workload, form, None)
            and ran.fault is None
        ]
        if not known:
            return FIRST_SCALE / threads
        like = min(known, key=lambda ran: abs(threads - ran.run.threads) / ran.run.threads)
        more = max(1.0, threads / like.run.threads)
        scale = self.target_s / (max(like.cpu_s, 0.01) * more) * like.run.scale
        # Not from one estimate to a hundred times as much.
        return float(f"{min(max(scale, LEAST_SCALE), MOST_SCALE, like.run.scale * 8):.2g}")


def read_log(path: Path) -> list[Ran]:
    """What an earlier process wrote, but for the line that it was writing when it was stopped."""
    read = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        with contextlib.suppress(ValueError):
            values = json.loads(line)
            values.pop("command")
            values["run"]["form"] = tuple(values["run"]["form"])
            read.append(Ran(**values | {"run": Run(**values["run"])}))
    return read


def log_line(ran: Ran) -> str:
    return json.dumps(asdict(ran) | {"command": shlex.join(ran.run.command())}) + "\n"


class Driver:
    """Runs what is next, several at a time, until enough processor time is used."""

    def __init__(self, stress: Stress, log: Path, seconds: float) -> None:
        self.stress = stress
        self.seconds = seconds
        self.log = log
        self._running: set[Run] = set()
        self._lock = threading.Lock()
        self._stop = False

    def drive(self, jobs: int) -> None:
        self.log.parent.mkdir(parents=True, exist_ok=True)
        workers = [threading.Thread(target=self._work, daemon=True) for _ in range(jobs)]
        for worker in workers:
            worker.start()
        try:
            for worker in workers:
                worker.join()
        except KeyboardInterrupt:
            self._stop = True
            print("stress: interrupted; the same command goes on from here")

    def _work(self) -> None:
        while True:
            with self._lock:
                ahead = self.stress.cpu_s + len(self._running) * self.stress.target_s
                if self._stop or ahead >= self.seconds:
                    return
                run = self.stress.next(self._running)
                self._running.add(run)
            ran = carry_out(run)
            with self._lock:
                self._running.remove(run)
                self.stress.note(ran)
                with self.log.open("a", encoding="utf-8") as log:
                    log.write(log_line(ran))
                if ran.fault is not None:
                    print(f"FAULT: {shlex.join(run.command())}\n  {ran.fault}", flush=True)


def summary(stress: Stress) -> str:
    """One line for each allocator, and one for all."""
    lines = [f"{'allocator':<20} {'runs':>6} {'CPU s':>8} {'threads':>8} {'faults':>6}"]
    for name in dict.fromkeys(allocator for allocator, _ in stress.pairs):
        ran = [ran for ran in stress.ran if ran.run.allocator == name]
        threads = [one.run.threads for one in ran] or [0]
        faults = sum(one.fault is not None for one in ran)
        lines.append(
            f"{name:<20} {len(ran):>6} {sum(one.cpu_s for one in ran):>8.1f}"
            f" {f'{min(threads)} … {max(threads)}':>8} {faults:>6}"
        )
    tried = {(ran.run.allocator, ran.run.workload) for ran in stress.ran}
    lines.append(
        f"{stress.cpu_s / 60:.1f} CPU-minutes, {len(stress.ran)} runs,"
        f" {len(tried)} of {len(stress.pairs)} pairs of allocator and workload,"
        f" {len(stress.faults)} faults"
    )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=MINUTES, help="of processor time, in all")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="runs at a time")
    parser.add_argument("--seed", type=int, default=None, help="of what is drawn")
    parser.add_argument("--log", type=Path, default=Path("build/stress.jsonl"))
    parser.add_argument("-a", "--allocators", help="names, with commas; all composed ones")
    parser.add_argument("-w", "--workloads", help="names, with commas; all that are installed")
    given = parser.parse_args()
    seed = random.SystemRandom().randrange(1 << 32) if given.seed is None else given.seed
    stress = Stress(
        given.allocators.split(",") if given.allocators else composed(),
        given.workloads.split(",") if given.workloads else workloads(),
        seed,
    )
    for ran in read_log(given.log):
        stress.note(ran)
    print(f"stress: seed {seed}, log {given.log} with {stress.cpu_s / 60:.1f} CPU-minutes of it")
    Driver(stress, given.log, given.minutes * 60).drive(given.jobs)
    print(summary(stress))
    for ran in stress.faults:
        print(f"FAULT: {shlex.join(ran.run.command())}\n  {ran.fault}")
    return 1 if stress.faults else 0


if __name__ == "__main__":
    sys.exit(main())
