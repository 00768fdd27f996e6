# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Studies of a trace: times of routines, and the memory of an ideal allocator as its bound."""

from collections.abc import Callable
from pathlib import Path

import pytest

from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.study_results.reader import open_results
from heapwright.base.errors import ExitCode

from .studies import write_text
from .tools import Heapwright

pytestmark = pytest.mark.usefixtures("native")

LIVE, SIZE = 500, 4800
STUDY = """
format = 1
name = "replayed"
title = "two threads, again"
trace = "TRACE"
[factors.allocator]
levels = ["glibc", "lea"]
[design]
blocks = 2
[responses.memory]
from = "peak_rss"
[responses.ideal]
from = "replay"
figure = "ideal_bytes"
better = "none"
[responses.over_ideal]
from = "replay"
figure = "a_over_u"
[responses.malloc_ns]
from = "replay"
figure = "routines.malloc.mean_ns"
[responses.free_ns]
from = "replay"
figure = "routines.free.p99_ns"
[responses.memalign_ns]
from = "replay"
figure = "routines.memalign.mean_ns"
"""


@pytest.fixture
def study(
    tmp_path: Path,
    needs_programs: Callable[..., None],
    trace_of_text: Callable[[Path, str], Path],
) -> Path:
    """At most 500 objects of 4,800 bytes live at a time; the second thread frees half of them."""
    needs_programs("replay")
    lines = []
    for number in range(1500):
        address = 0x10000 + 8192 * (number % LIVE)
        if number >= LIVE:
            lines.append(f"{1 + number % 2}: free 0x{address:x}")
        lines.append(f"1: malloc 0x{address:x} {SIZE}")
    trace = trace_of_text(tmp_path, "\n".join(lines) + "\n")
    return write_text(tmp_path, STUDY.replace("TRACE", trace.name))


def test_each_run_has_the_times_of_routines_and_its_peak_over_the_ideal(
    heapwright: Heapwright, study: Path
) -> None:
    done = heapwright("study", "run", study, "-o", "results")
    assert done.status == ExitCode.OK, done.err
    runs = list(open_results(study.parent / "results").runs())
    assert [run.outcome for run in runs] == [Outcome.OK] * 4
    for run in runs:
        assert run.replay is not None
        found = run.responses
        assert found["ideal"] == LIVE * SIZE
        assert found["over_ideal"] == run.replay.peak_heap_bytes / (LIVE * SIZE)
        assert found["over_ideal"] >= 0.9, "the live objects were written"
        assert found["malloc_ns"] == run.replay.routines["malloc"].mean_ns > 0
        assert found["free_ns"] == run.replay.routines["free"].p99_ns > 0
        assert "memalign_ns" not in found, "the trace does not call it"
    done = heapwright("analyse", "results")
    assert done.status == ExitCode.OK, done.err
    assert "over_ideal" in done.out


def test_a_published_trace_is_replayed_with_as_many_events_as_the_study_asks_for(
    heapwright: Heapwright, tmp_path: Path, needs_programs: Callable[..., None]
) -> None:
    needs_programs("replay", "synth")
    text = STUDY.replace('"TRACE"', '"synth:steady:3000"').replace('["glibc", "lea"]', '["glibc"]')
    done = heapwright("study", "run", write_text(tmp_path, text), "-o", "results")
    assert done.status == ExitCode.OK, done.err
    for run in open_results(tmp_path / "results").runs():
        assert run.replay is not None
        calls = sum(each.calls for each in run.replay.routines.values())
        assert 3000 <= calls < 7000, "the last events free what is live"


@pytest.mark.parametrize("events", ["", "x", "0", "-1", "1e3", "9" * 5000])
def test_a_number_of_events_that_is_none_is_refused(
    heapwright: Heapwright, tmp_path: Path, events: str
) -> None:
    text = STUDY.replace('"TRACE"', f'"synth:steady:{events}"')
    done = heapwright("study", "run", write_text(tmp_path, text), "-o", "results")
    assert done.status == ExitCode.BAD_INPUT
    assert f"synth:steady:{events}: {events!r} is no number of events" in done.err


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('trace = "TRACE"', 'workload = "larson"', "there is no trace that is replayed"),
        ('"a_over_u"', '"a_over_v"', "a replay has no 'a_over_v' there"),
        ("malloc.mean_ns", "malloc.mean", "a replay has no 'mean' there"),
        ("routines.free.p99_ns", "free.p99.ns", "say calls"),
        ('from = "peak_rss"', 'from = "wall"\nfigure = "calls"', "figure is for a response from"),
        ('figure = "ideal_bytes"\n', "", "say which figure"),
        ('trace = "TRACE"', 'trace = "T"\ntouch = "none"', "does not write into its memory"),
        ('trace = "TRACE"', 'trace = "T"\nvisits = 2', "visits are made between calls"),
        ('trace = "TRACE"', 'trace = "T"\ngaps = "always"', "gaps"),
    ],
)
def test_a_figure_that_no_replay_has_is_refused(
    heapwright: Heapwright, tmp_path: Path, old: str, new: str, why: str
) -> None:
    assert old in STUDY
    done = heapwright("study", "check", write_text(tmp_path, STUDY.replace(old, new)))
    assert done.status == ExitCode.BAD_INPUT
    assert why in done.err
