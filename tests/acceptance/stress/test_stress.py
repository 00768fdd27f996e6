# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A short slice of the stress, and the driver of it (`make stress` runs more).

Each allocator runs each workload once, with a number of threads and a seed that are drawn anew
every time. A failure prints the command line that repeats it.
"""

import random
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from heapwright.artefacts.allocator.catalogue import read_catalogue

from . import stress
from .stress import Ran, Run, Stress

CATALOGUE = read_catalogue(Path(__file__).parents[3] / "catalogue" / "allocators.toml")
SLICE_S = 0.1  # of the processor, for each pair


@pytest.mark.each_allocator
@pytest.mark.parametrize("allocator", [entry.name for entry in CATALOGUE.composed])
def test_every_workload_ends_well(allocator: str) -> None:
    names = stress.workloads()
    slice_of_it = Stress([allocator], names, random.SystemRandom().randrange(1 << 32), SLICE_S)
    faults = []
    for _ in names:
        ran = stress.carry_out(slice_of_it.next())
        slice_of_it.note(ran)
        if ran.fault is not None:
            faults.append(f"{shlex.join(ran.run.command())}\n  {ran.fault}")
    assert not faults, "\n".join(faults)
    assert {ran.run.workload for ran in slice_of_it.ran} == set(names)


FIRST = CATALOGUE.composed[0].name
RUN = Run(FIRST, "larson", (), 4, 7, 0.5)


def ran(run: Run = RUN, cpu_s: float = 1.0, fault: str | None = None) -> Ran:
    return Ran(run, stress.fingerprint(run.allocator), cpu_s, 2.0, fault)


def test_time_is_spread_over_all_pairs() -> None:
    spread = Stress([FIRST, "lea"], ["larson", "loop"], 1)
    running: list[Run] = []
    for _ in range(4):
        running.append(spread.next(running))
    assert len({(run.allocator, run.workload) for run in running}) == 4
    for run in running[1:]:
        spread.note(ran(run))
    last = spread.next()
    assert (last.allocator, last.workload) == (running[0].allocator, running[0].workload)


def test_threads_go_from_one_to_sixty_four() -> None:
    some = Stress([FIRST], ["larson"], 3)
    threads = [some.next().threads for _ in range(800)]
    assert (min(threads), max(threads)) == (1, 64)
    assert sum(count <= 8 for count in threads) > 120


def test_the_scale_follows_what_was_seen() -> None:
    some = Stress([FIRST], ["larson"], 3, target_s=2.0)
    assert some.next().scale <= stress.FIRST_SCALE
    for form in stress.FORMS["larson"]:
        some.note(ran(replace(RUN, form=form, threads=1, scale=0.1), cpu_s=4.0))
    for run in (some.next() for _ in range(20)):
        assert run.scale == float(f"{0.05 / run.threads:.2g}")


def test_some_runs_have_little_memory_and_may_say_so() -> None:
    some = Stress([FIRST], ["larson"], 3)
    limited = [run for run in (some.next() for _ in range(60)) if run.limit_mib is not None]
    assert len(limited) == 60 // stress.LIMITED
    assert limited[0].command()[0] == "prlimit"
    assert stress.judge(limited[0], stress.NO_MEMORY, b"", "no memory") is None
    assert stress.judge(RUN, stress.NO_MEMORY, b"", "no memory") is not None


@pytest.mark.parametrize(
    ("status", "output", "errors", "said"),
    [
        (-11, b"", "", "signal 11"),
        (1, b"", "byte 3 has changed", "status 1: byte 3 has changed"),
        (0, b"nothing", "", "no result"),
        (0, b'{"verified": false}', "", "not verified"),
        (0, b'{"verified": true}', "warning", "standard error: warning"),
    ],
)
def test_bad_ends_are_faults(status: int, output: bytes, errors: str, said: str) -> None:
    assert said in str(stress.judge(RUN, status, output, errors))
    assert stress.judge(RUN, 0, b'{"verified": true}', "") is None


def test_the_log_brings_back_what_ran(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    other = replace(ran(), library="of another build")
    written = [ran(), ran(replace(RUN, form=("--hold", "10")), fault="died"), other]
    log.write_text("".join(map(stress.log_line, written)) + '{"run": {"alloc')
    read = stress.read_log(log)
    assert read == written
    again = Stress([FIRST], ["larson"], 1)
    for one in read:
        again.note(one)
    assert again.cpu_s == 2.0  # the other build's does not count
    assert len(again.faults) == 1
    assert stress.read_log(tmp_path / "nothing") == []


def test_the_command_goes_on_where_it_stopped(tmp_path: Path) -> None:
    def drive(minutes: float) -> str:
        command = [sys.executable, stress.__file__, "--minutes", str(minutes), "--jobs", "1"]
        chosen = ["-a", FIRST, "-w", "loop", "--log", str(tmp_path / "log.jsonl"), "--seed", "5"]
        done = subprocess.run([*command, *chosen], capture_output=True, text=True, check=True)
        assert "seed 5" in done.stdout
        assert done.stdout.endswith("1 of 1 pairs of allocator and workload, 0 faults\n")
        return done.stdout

    drive(0.001)
    first = stress.read_log(tmp_path / "log.jsonl")
    assert len(first) > 0
    drive(0.0001)
    assert stress.read_log(tmp_path / "log.jsonl") == first
