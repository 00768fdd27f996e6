# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright replay` from end to end, on a small trace of two threads."""

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from heapwright.artefacts.run.measured import Outcome
from heapwright.base.errors import ExitCode

from .tools import Heapwright, library, read

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


def test_replays_are_compared_as_commands_are(
    heapwright: Heapwright, trace: Path, tmp_path: Path
) -> None:
    done = heapwright("replay", trace, "-n", "3", "-a", "glibc,lea", "--json", "out.json")
    assert done.status == 0, done.err
    comparison = read(tmp_path / "out.json")
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
    assert done.status == 0, done.err
    runs = read(tmp_path / "o.json").runs
    assert {run.outcome for run in runs if run.allocator == "careless.so"} == {Outcome.FAILED}
    assert {run.outcome for run in runs if run.allocator == "lea"} == {Outcome.OK}
    assert "overlaps a live object" in next(r for r in runs if r.allocator == "careless.so").detail
    assert "the times mean nothing" in done.out


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


def test_a_curve_is_of_one_allocator(heapwright: Heapwright, trace: Path) -> None:
    done = heapwright("replay", trace, "--curve", "c", "-a", "glibc,lea")
    assert done.status == ExitCode.BAD_INPUT
    assert "name one allocator" in done.err


def test_what_is_no_trace_is_refused_before_any_run(heapwright: Heapwright, tmp_path: Path) -> None:
    done = heapwright("replay", "absent")
    assert done.status == ExitCode.BAD_INPUT
    assert "there is no trace absent" in done.err
    (tmp_path / "text").write_text("hello")
    done = heapwright("replay", "text", "-a", "glibc,lea")
    assert done.status == ExitCode.BAD_INPUT
    assert "cannot be replayed" in done.err
