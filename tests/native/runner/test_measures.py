# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What heapwright-run measures, against programs whose figures are known beforehand."""

import itertools
import os
import subprocess
import sys
from dataclasses import replace

import pytest

from heapwright.experiment.runner import run_once

from .bench import MIB, Bench, cpu_of, of

SMALL = 4 * MIB  # no program here is as large as this by itself


def test_a_peak_is_what_was_touched(bench: Bench) -> None:
    run = bench.run(bench.program("use"), "100", "0", "exit")
    assert run.peak_rss_bytes is not None
    assert 100 * MIB <= run.peak_rss_bytes < 100 * MIB + SMALL


@pytest.mark.parametrize("ending", ["exit", "_exit", "_Exit", "quick_exit", "return", "raw", "9"])
def test_the_peak_is_known_however_a_program_ends(bench: Bench, ending: str) -> None:
    run = bench.run(bench.program("use"), "50", "0", ending)
    assert run.peak_rss_bytes is not None
    assert 50 * MIB <= run.peak_rss_bytes < 50 * MIB + SMALL


def test_nothing_of_a_large_caller_is_in_the_peak(bench: Bench) -> None:
    """The kernel carries the peak of the image that executes into the new program's."""
    spec = bench.spec(bench.program("use"), "0", "0", "exit")
    script = (
        "import sys\n"
        "ballast = bytearray(b'x') * (300 << 20)\n"
        "from pathlib import Path\n"
        "from heapwright.experiment.runner import RunSpec, run_once\n"
        f"run = run_once(RunSpec(({spec.command[0]!r}, '0', '0', 'exit'), {spec.environment!r}))\n"
        "print(run.peak_rss_bytes)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert 0 < int(done.stdout) < SMALL


def test_the_runner_itself_is_smaller_than_any_dynamic_program(bench: Bench) -> None:
    """A static program that does next to nothing: what is left is the floor of all peaks."""
    run = bench.run(bench.program("use", "-static"), "0", "0", "exit")
    assert run.peak_rss_bytes is not None
    assert run.peak_rss_bytes < 1.5 * MIB


def test_two_at_once_add_up(bench: Bench) -> None:
    run = bench.run(bench.program("start"), "twice", bench.program("use"), "60", "300", "exit")
    assert run.peak_rss_bytes is not None
    assert 120 * MIB <= run.peak_rss_bytes < 120 * MIB + 3 * SMALL
    assert run.peak_rss_method.startswith("sum over the tree")


def test_the_series_rises_in_time_to_the_sampled_peak(bench: Bench) -> None:
    run = bench.run(bench.program("use"), "80", "200", "exit")
    times = [time for time, _ in run.rss_series]
    assert len(times) >= 3
    assert all(before < after for before, after in itertools.pairwise(times))
    assert run.wall_s is not None
    assert times[-1] <= run.wall_s
    assert 80 * MIB <= max(size for _, size in run.rss_series) < 80 * MIB + SMALL


def test_a_long_series_stays_bounded_and_keeps_its_peak(bench: Bench) -> None:
    spec = replace(bench.spec(bench.program("use"), "70", "1200", "exit"), interval_ms=0.2)
    run = run_once(spec)
    assert 3 <= len(run.rss_series) <= 2000
    assert max(size for _, size in run.rss_series) >= 70 * MIB


def test_cpu_time_wall_time_and_faults(bench: Bench) -> None:
    run = bench.run(bench.program("use"), "40", "300", "exit")
    assert run.wall_s is not None
    assert run.minor_faults is not None
    assert 0.3 <= cpu_of(run) < 3
    assert run.wall_s >= 0.3
    assert run.minor_faults >= 40 * MIB // 4096 // 512  # even with huge pages
    assert run.major_faults is not None
    assert run.voluntary_switches is not None
    assert run.involuntary_switches is not None
    assert run.steal_s >= 0
    assert run.load_before >= 0
    assert run.runnable_before >= 0


def test_the_run_queue_before_the_run_has_the_threads_that_wait_for_a_processor(
    bench: Bench,
) -> None:
    spinning = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(3)]
    try:
        run = bench.run(bench.program("use"), "1", "1", "exit")
    finally:
        for process in spinning:
            process.kill()
            process.wait()
    assert run.runnable_before >= len(spinning)


def test_cpu_time_of_children_and_orphans_is_in_the_sum(bench: Bench) -> None:
    start, use = bench.program("start"), bench.program("use")
    for how in ("fork", "orphan"):
        run = bench.run("/bin/sh", "-c", f"{start} {how} {use} 0 200 exit | cat")
        assert cpu_of(run) >= 0.2, how
        (burner,) = of(run, "use")
        assert burner.cpu_s >= 0.2


def test_the_harness_uses_next_to_nothing(bench: Bench) -> None:
    run = bench.run("/bin/sleep", "1")
    assert run.harness_cpu_s < 0.05


def test_a_missing_counter_is_absent(bench: Bench) -> None:
    """Where the machine gives counters they are plausible; where it does not, there are none."""
    run = run_once(replace(bench.spec(bench.program("use"), "0", "100", "exit"), counters=True))
    known = {"instructions", "cycles", "cache-misses", "branch-misses"}
    assert set(run.counters) <= known
    assert all(value >= 0 for value in run.counters.values())
    if "instructions" in run.counters:
        assert run.counters["instructions"] > 1e6


def test_pinning_is_for_the_command(bench: Bench) -> None:
    cpu = max(os.sched_getaffinity(0))
    command = (sys.executable, "-c", "import os; print(sorted(os.sched_getaffinity(0)))")
    output = bench.folder / "affinity"
    run = run_once(replace(bench.spec(*command), cpus=str(cpu), stdout=output))
    assert run.exit_status == 0
    assert output.read_text().strip() == f"[{cpu}]"


def test_thousands_of_short_processes(bench: Bench) -> None:
    """Each is accounted for exactly, and folded ones still add up."""
    loop = "i=0; while [ $i -lt 2000 ]; do /bin/true; i=$((i+1)); done"
    run = bench.run("/bin/sh", "-c", loop)
    assert run.exit_status == 0
    assert sum(process.count for process in of(run, "true")) == 2000
    assert len(run.processes) < 1000
    assert all(process.witnessed for process in run.processes)
    known = sum(process.cpu_s for process in run.processes)
    assert known + run.unaccounted_cpu_s == pytest.approx(cpu_of(run), abs=0.005)
    assert run.unaccounted_cpu_s <= run.teardown_allowance_s
