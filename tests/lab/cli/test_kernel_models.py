# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright kernel models`: from the command line to the table and the document."""

from collections.abc import Callable
from pathlib import Path

import pytest

from heapwright.artefacts.kernelsim.document import MODELS, KernelModels
from heapwright.base.errors import ExitCode

from .tools import Heapwright

ROOT = Path(__file__).parents[3]
TRACE = """\
heapwright-kernel-trace 1
kernel 6.6.1 slub
cpus 2
memory 16
cache 0 200 8 -- thing
events
a 10 0 1 0
m 20 1 2 100
f 30 1 1
k 40 2 0
end 4
"""


@pytest.fixture(autouse=True)
def _programs(native: Path, needs_programs: Callable[..., None]) -> None:
    del native
    needs_programs("kernelsim", "kernelsim-observed")


def test_a_load_becomes_a_table_and_a_document(heapwright: Heapwright, tmp_path: Path) -> None:
    file = tmp_path / "m.json"
    words = ("--load", "churn", "--operations", "2000", "--cpus", "1,4", "--seed", "3")
    done = heapwright("kernel", "models", *words, "--rounds", "2", "--caches", "--json", file)
    assert done.status == 0, done.err
    document = KernelModels.from_json(file.read_text(encoding="utf-8"))
    assert [run.traffic.processors for run in document.runs] == [1, 4]
    assert document.seed == 3
    for run in document.runs[0].models:
        assert len(run.rounds) == 2
        assert f"{run.slab_pages.peak * 4:,}" in done.out
    assert "vm_area_struct" in done.out
    assert "\x1b" not in done.out


def test_counts_repeat_and_change_no_other_figure(heapwright: Heapwright) -> None:
    words = ("--load", "churn", "--operations", "1500", "--memory", "64", "--cpus", "1,4")
    same = ("kernel", "models", *words, "--seed", "3", "--rounds", "2", "--json", "-")
    counted, plain = heapwright(*same, "--counts"), heapwright(*same)
    assert counted.status == 0, counted.err
    runs = KernelModels.from_json(counted.out).runs
    for ours, other in zip(runs, KernelModels.from_json(plain.out).runs, strict=True):
        assert ours.traffic.memory_pages == 64 * 256
        for run, without in zip(ours.models, other.models, strict=True):
            assert without.counts is None
            times = {"counts": None, "seconds": 0.0, "rounds": ()}
            assert run.model_copy(update=times) == without.model_copy(update=times)
    one, four = ({run.model: run.counts for run in answer.models} for answer in runs)
    for model in MODELS:
        alone, together = one[model], four[model]
        assert alone is not None
        assert together is not None
        assert alone.path == alone.time == alone.instructions_in_all > 0
        assert (alone.transfers, alone.hand_overs, alone.user_transfers) == ((0,), 0, 0)
        assert len(together.instructions) == 4
        assert together.transfers_in_all == sum(together.transfers) > 0
        assert together.time > together.path >= max(together.instructions)
    slob = four["slob"]
    assert slob is not None
    assert slob.own_lock_takes == 0, "it has one lock for all processors"
    assert slob.path == slob.under_one_lock > max(slob.instructions)
    assert "Hand-overs k" in counted.err


def test_a_trace_of_another_kernel_is_run_and_said(heapwright: Heapwright, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    trace.write_text(TRACE, encoding="utf-8")
    done = heapwright("kernel", "models", "--trace", trace, "--json", "-")
    assert done.status == 0, done.err
    (answer,) = KernelModels.from_json(done.out).runs
    assert "the trace is of Linux 6.6.1" in done.err
    assert [run.model for run in answer.models] == list(MODELS)
    for run in answer.models:
        assert (run.takes, run.remote_frees) == (2, 1)
        assert run.samples[-1].recorded is not None
        assert run.samples[-1].live_bytes == 100


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "name exactly one load or one kernel trace"),
        (("--load", "chrun"), "there is no load 'chrun'"),
        (("--load", "nowhere/x.toml"), "cannot be read"),
        (("--load", "churn", "--cpus", "9"), "--cpus is numbers from 1 to 8"),
        (("--load", "churn", "--cpus", "0"), "--cpus is numbers from 1 to 8"),
        (("--load", "churn", "--cpus", ""), "--cpus is numbers from 1 to 8"),
        (("--load", "churn", "-m", "slub,slat"), "there is no model 'slat'"),
        (("--load", "churn", "-m", ","), "names no model"),
        (("--load", "churn", "--trace", "x"), "name exactly one load or one kernel trace"),
        (("--trace", "nowhere"), "the kernel trace nowhere cannot be read"),
        (("--trace", "nowhere", "--cpus", "2"), "--cpus is for loads"),
        (("--trace", "nowhere", "--memory", "64"), "--memory is for loads"),
        (("--load", "churn", "--json", "nowhere/m.json"), "cannot be written"),
        (("--load", "messages", "-o", "t", "--cpus", "1,2"), "-o keeps the traffic of one number"),
    ],
)
def test_refused_requests(heapwright: Heapwright, words: tuple[str, ...], said: str) -> None:
    done = heapwright("kernel", "models", *words)
    assert done.status == ExitCode.BAD_INPUT
    assert said in done.err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1: the trace is empty"),
        (TRACE[: TRACE.index("end")], "the trace is cut off"),
        (TRACE.replace("f 30 1 1", "f 30 1 7"), "line 9: 7 is freed, and is not live"),
        (TRACE.replace("trace 1", "trace 3"), "line 1: this is a kernel trace of format 3"),
    ],
)
def test_a_trace_that_makes_no_sense_is_refused_with_its_line(
    heapwright: Heapwright, tmp_path: Path, text: str, said: str
) -> None:
    trace = tmp_path / "trace"
    trace.write_text(text, encoding="utf-8")
    done = heapwright("kernel", "models", "--trace", trace)
    assert done.status == ExitCode.BAD_INPUT
    assert said in done.err


def test_a_full_disk_is_reported(heapwright: Heapwright) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    words = ("--load", "messages", "--operations", "300", "--json", "/dev/full")
    done = heapwright("kernel", "models", *words)
    assert done.status == ExitCode.NOT_WRITTEN
    assert "slob" in done.out


def test_the_loads_are_listed(heapwright: Heapwright) -> None:
    done = heapwright("kernel", "models", "--load", "list")
    assert done.status == 0, done.err
    for name in ("churn", "fileio-like", "memory-like", "messages"):
        assert name in done.out
