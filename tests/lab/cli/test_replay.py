# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright replay` from end to end, on a small trace of two threads."""

import csv
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from heapwright.artefacts.comparison.document import Comparison
from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.trace.processes import named, processes_of
from heapwright.base.errors import ExitCode
from support.running import ran

from .tools import Done, Heapwright, library, read

pytestmark = pytest.mark.usefixtures("native")

CARELESS = """
#include <stddef.h>
extern void *__libc_malloc(size_t);
extern void __libc_free(void *);
static int calls;
static char memory[64] __attribute__((aligned(16)));
void *malloc(size_t n) {
    return n == 48 && __sync_add_and_fetch(&calls, 1) > 100 ? memory : __libc_malloc(n);
}
void free(void *p) { if (p != memory) __libc_free(p); }
"""
"""WorkerPool out the same 48 bytes again and again."""


@pytest.fixture
def trace(
    tmp_path: Path,
    needs_programs: Callable[..., None],
    trace_of_text: Callable[[Path, str], Path],
) -> Path:
    """Two threads; the second frees every other object of the first."""
    needs_programs("replay")
    lines = []
    for number in range(2000):
        address = 0x10000 + 64 * (number % 500)
        if number >= 500:
            lines.append(f"{1 + number % 2}: free 0x{address:x}")
        lines.append(f"1: malloc 0x{address:x} 48")
    return trace_of_text(tmp_path, "\n".join(lines) + "\n")


def compared(done: Done, folder: Path) -> Comparison:
    """What replays came to that left their document in o.json."""
    assert done.status == 0, done.err
    return read(folder / "o.json")


def test_replays_are_compared_as_commands_are(
    heapwright: Heapwright, trace: Path, tmp_path: Path
) -> None:
    done = heapwright("replay", trace, "-n", "3", "-a", "glibc,lea", "--json", "o.json")
    comparison = compared(done, tmp_path)
    assert comparison.replay is not None
    assert comparison.replay.plan.events == 3500
    assert comparison.replay.plan.threads == 2
    assert comparison.replay.plan.hand_overs == 750
    assert comparison.replay.plan.ideal_bytes == 500 * 48
    assert len(comparison.runs) == 2 * 4
    for run in comparison.runs:
        assert run.outcome is Outcome.OK
        assert run.interposed
        assert run.replay is not None
        assert run.replay.calls == 3500
        assert run.replay.routines["malloc"].calls == 2000
        assert run.replay.routines["free"].calls == 1500
        assert run.peak_rss_bytes is not None
        assert 2**18 < run.peak_rss_bytes < 2**26
    responses = {summary.response: summary.unit for summary in comparison.responses}
    assert responses["time"] == "s"
    assert responses["malloc.p99_ns"] == "ns"
    assert responses["a_over_u"] == "ratio"
    assert comparison.effect(("lea", ""), "call_ns") is not None
    assert "malloc, ns" in done.out
    assert "750 objects handed over" in done.out
    assert comparison.verdict.reason in done.out


def test_an_allocator_that_gives_memory_twice_fails_the_check(
    heapwright: Heapwright, trace: Path, tmp_path: Path
) -> None:
    library(tmp_path / "careless.so", CARELESS)
    done = heapwright(
        "replay", trace, "--check", "-n", "1", "-a", "glibc,lea,./careless.so", "--json", "o.json"
    )
    assert done.status == ExitCode.NOTHING_COMPARED, done.err
    runs = read(tmp_path / "o.json").runs
    assert {run.outcome for run in runs if run.allocator == "careless.so"} == {Outcome.FAILED}
    assert {run.outcome for run in runs if run.allocator == "lea"} == {Outcome.OK}
    assert "overlaps a live object" in next(r for r in runs if r.allocator == "careless.so").detail
    assert "the times mean nothing" in done.out
    reason = read(tmp_path / "o.json").verdict.reason
    assert reason.startswith("Failed: careless.so did not pass the checks; glibc and lea returned")
    assert reason in done.out.replace("\n", " ")


def test_a_check_needs_one_allocator_and_ends_with_its_result(
    heapwright: Heapwright, trace: Path
) -> None:
    done = heapwright("replay", trace, "--check", "-a", "glibc", "-q")
    assert done.status == 0, done.err
    assert done.out.startswith("Passed: glibc returned aligned blocks that do not overlap")
    assert "nothing to compare it with" in heapwright("replay", trace, "-a", "glibc").err


@pytest.mark.parametrize("name", ["glibc", "lea"])
def test_the_curve_is_what_is_live_after_each_call(
    heapwright: Heapwright, trace: Path, tmp_path: Path, name: str
) -> None:
    done = heapwright(
        "replay", trace, "--order", "recorded", "--curve", "curve.csv", "-a", name, "--check"
    )
    assert done.status == 0, done.err
    with (tmp_path / "curve.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    live = []
    for number in range(2000):
        if number >= 500:
            live.append(499 * 48)
        live.append(min(number + 1, 500) * 48)
    assert [int(row["live_bytes"]) for row in rows] == live
    assert [int(row["operation"]) for row in rows] == list(range(1, 3501))


@pytest.fixture
def large(
    tmp_path: Path,
    needs_programs: Callable[..., None],
    trace_of_text: Callable[[Path, str], Path],
) -> Path:
    """Twenty objects of 1 MiB that live together."""
    needs_programs("replay")
    lines = [f"1: malloc 0x{0x10000000 + (number << 21):x} {1 << 20}" for number in range(20)]
    return trace_of_text(tmp_path, "\n".join(lines) + "\n")


def test_memory_is_written_by_default(heapwright: Heapwright, large: Path, tmp_path: Path) -> None:
    done = heapwright("replay", large, "-n", "1", "-a", "glibc,lea", "--json", "o.json")
    comparison = compared(done, tmp_path)
    assert comparison.replay is not None
    assert comparison.replay.touch == "as-recorded-size"
    for run in comparison.runs:
        assert run.replay is not None
        assert run.replay.peak_heap_bytes >= run.replay.ideal_bytes == 20 << 20


@pytest.mark.parametrize("touch", ["none", "first-byte"])
def test_memory_that_was_not_written_gets_no_verdict(
    heapwright: Heapwright, large: Path, tmp_path: Path, touch: str
) -> None:
    words = ("replay", large, "-n", "3", "-a", "glibc,lea", "--touch", touch)
    done = heapwright(*words, "--json", "o.json")
    comparison = compared(done, tmp_path)
    assert comparison.effect(("lea", ""), "time") is not None
    assert comparison.effect(("lea", ""), "memory") is None
    assert comparison.effect(("lea", ""), "a_over_u") is None
    assert "Memory is not compared" in done.out
    assert "less memory" not in comparison.verdict.reason
    assert "more memory" not in comparison.verdict.reason
    refused = heapwright(*words, "--cap", "1G")
    assert refused.status == ExitCode.BAD_INPUT
    assert "--cap needs the memory" in refused.err


@pytest.fixture
def queue(
    tmp_path: Path,
    needs_programs: Callable[..., None],
    trace_of_text: Callable[[Path, str], Path],
) -> Path:
    """A thread makes 20,000 objects of 4 KiB, another frees each when ten are live."""
    needs_programs("replay")
    lines = []
    for number in range(1, 20_001):
        lines.append(f"1: malloc 0x{number << 16:x} 4096")
        if number >= 10:
            lines.append(f"2: free 0x{(number - 9) << 16:x}")
    return trace_of_text(tmp_path, "\n".join(lines) + "\n")


def test_the_peak_is_that_of_the_recording_however_fast_a_producer_is(
    heapwright: Heapwright, queue: Path, tmp_path: Path
) -> None:
    done = heapwright("replay", queue, "-n", "1", "-a", "glibc,lea", "--json", "o.json")
    comparison = compared(done, tmp_path)
    assert comparison.replay is not None
    assert comparison.replay.order == "bounded"
    assert comparison.replay.plan.ahead_bytes == 32 << 10
    assert "order bounded (live bytes within 32.0 KiB" in " ".join(done.out.split())
    for run in comparison.runs:
        assert run.replay is not None
        assert run.replay.ideal_bytes == 10 * 4096
        assert run.replay.peak_heap_bytes < 1 << 20, "twenty thousand would be 80 MiB"


@pytest.fixture
def of_three(tmp_path: Path, needs_programs: Callable[..., None]) -> Path:
    """A trace of a shell and two programs that it starts."""
    needs_programs("record", "replay")
    path = tmp_path / "three"
    words = [
        "record",
        "--follow-children",
        "-o",
        str(path),
        "--",
        "sh",
        "-c",
        "ls /; sort /dev/null",
    ]
    assert ran([sys.executable, "-m", "heapwright", *words]).returncode == 0
    assert len(processes_of(path)) >= 3
    return path


def test_the_process_that_is_replayed_is_named_and_so_are_the_others(
    heapwright: Heapwright, of_three: Path, tmp_path: Path
) -> None:
    first, second, *_ = processes_of(of_three)
    words = ("replay", of_three, "-n", "1", "-a", "glibc,lea")
    done = heapwright(*words, "--json", "o.json")
    assert done.status == 0, done.err
    said = " ".join(done.out.split())
    assert f"is replayed: {named([first])}. Not replayed: {second.process} (" in said
    assert "--process NUMBER replays another" in said
    comparison = read(tmp_path / "o.json")
    assert comparison.replay is not None
    assert comparison.replay.processes == processes_of(of_three)
    other = heapwright(*words, "--process", str(second.process), "-q")
    assert f"is replayed: {named([second])}." in other.err
    assert len(other.out.splitlines()) == 1


@pytest.mark.parametrize(
    "words", [("replay",), ("export", "--wl", "w"), ("export", "--parquet", "w")]
)
def test_a_process_that_is_not_there_is_refused_with_those_that_are(
    heapwright: Heapwright, of_three: Path, words: tuple[str, ...]
) -> None:
    done = heapwright(*words, of_three, "--process", "77")
    assert done.status == ExitCode.BAD_INPUT
    assert "has no process 77 that made calls" in done.err
    assert named(processes_of(of_three)[:1]) in done.err
    assert not of_three.with_name("w").exists()


def test_other_verbs_say_that_they_join_processes(heapwright: Heapwright, of_three: Path) -> None:
    assert "processes are imitated as one: " in heapwright("synth", of_three).err
    assert "processes are written as one: " in heapwright("export", "--wl", "w", of_three).err
    ranked = heapwright("synth", of_three, "-a", "glibc")
    assert ranked.status == ExitCode.BAD_INPUT
    assert "-a replays one process" in ranked.err


@pytest.fixture
def with_times(tmp_path: Path, needs_programs: Callable[..., None]) -> Path:
    """A trace of a recorded program."""
    needs_programs("record", "replay")
    path = tmp_path / "timed"
    script = "my @all; for (1 .. 300) { push @all, 'x' x $_; sqrt $_ for 1 .. 100 }"
    words = ["record", "-o", str(path), "--", "perl", "-e", script]
    assert ran([sys.executable, "-m", "heapwright", *words]).returncode == 0
    return path


def test_the_program_computes_and_visits_objects_between_its_calls(
    heapwright: Heapwright, with_times: Path, tmp_path: Path
) -> None:
    words = ("replay", with_times, "-n", "1", "-a", "glibc,lea", "--gaps", "recorded")
    comparison = compared(
        heapwright(*words, "--visits", "5", "--check", "--json", "o.json"), tmp_path
    )
    assert comparison.replay is not None
    assert comparison.replay.surroundings.gaps == "recorded"
    assert comparison.replay.surroundings.visits == 5
    work = comparison.replay.plan.between
    assert work is not None
    assert 0 < work.work_s < work.recorded_s
    assert work.visits_per_ms == 5000
    assert work.visited_lines >= work.visits > 0
    assert all(run.outcome is Outcome.OK for run in comparison.runs)
    for refused in (("--visits", "5", "--touch", "none"), ("--pace", "recorded")):
        assert heapwright(*words, *refused).status == ExitCode.BAD_INPUT


@pytest.mark.parametrize("visits", ["nan", "-1", "0.0001", "1001"])
def test_a_rate_of_visits_that_cannot_be_is_refused(
    heapwright: Heapwright, trace: Path, visits: str
) -> None:
    done = heapwright("replay", trace, "--gaps", "recorded", "--visits", visits)
    assert (done.status, done.out) == (ExitCode.BAD_INPUT, "")
    assert "is neither 0 nor from 0.001 to 1000" in done.err


def test_a_curve_is_of_one_allocator(heapwright: Heapwright, trace: Path) -> None:
    done = heapwright("replay", trace, "--curve", "c", "-a", "glibc,lea")
    assert done.status == ExitCode.BAD_INPUT
    assert "name one allocator" in done.err


def test_a_file_that_is_no_trace_is_refused_before_any_run(
    heapwright: Heapwright, tmp_path: Path
) -> None:
    done = heapwright("replay", "absent")
    assert done.status == ExitCode.BAD_INPUT
    assert "there is no trace absent" in done.err
    (tmp_path / "text").write_text("hello")
    done = heapwright("replay", "text", "-a", "glibc,lea")
    assert done.status == ExitCode.BAD_INPUT
    assert "cannot be replayed" in done.err
