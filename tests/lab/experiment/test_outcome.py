# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""How a run ended: one name for each ending, and the first rule that fits."""

import signal

import pytest

from heapwright.artefacts.run.measured import Ending, Outcome, ProcessRecord
from heapwright.experiment.interposition import Interposition
from heapwright.experiment.outcome import classify, signal_name
from heapwright.experiment.runner import RawRun

EFFECTIVE = Interposition(effective=True, share=0.0)
INEFFECTIVE = Interposition(effective=False, share=0.5, detail="not effective for 50.00%")


def raw(**changes: object) -> RawRun:
    """A run that went well, but for the changes."""
    fields: dict[str, object] = {
        "exit_status": 0,
        "signal": None,
        "timed_out": False,
        "interrupted": False,
        "spawn_error": None,
        "stderr_tail": "",
        "oom_kills": 0,
        "load_before": 0.0,
        "runnable_before": 0,
        "steal_s": 0.0,
        "harness_cpu_s": 0.0,
        "wall_s": 1.0,
        "user_s": 1.0,
        "sys_s": 0.0,
    }
    return RawRun.model_validate({**fields, **changes})


def killed(exe: str, number: int) -> ProcessRecord:
    return ProcessRecord(pid=5, ppid=4, exe=exe, cpu_s=0.1, ending=Ending.KILLED, signal=number)


def died(number: int, **changes: object) -> RawRun:
    return raw(exit_status=None, signal=number, **changes)


@pytest.mark.parametrize(
    ("run", "outcome"),
    [
        (raw(), Outcome.OK),
        (raw(stderr_tail="warning: out of memory is what we simulate"), Outcome.OK),
        (raw(oom_kills=1), Outcome.OK),
        (raw(exit_status=1), Outcome.FAILED),
        (raw(exit_status=None, spawn_error="no such file"), Outcome.FAILED),
        (died(signal.SIGSEGV), Outcome.CRASHED),
        (died(signal.SIGKILL), Outcome.CRASHED),
        (died(signal.SIGKILL, oom_kills=1), Outcome.OUT_OF_MEMORY),
        (raw(exit_status=137, oom_kills=1), Outcome.OUT_OF_MEMORY),
        (died(signal.SIGTERM, timed_out=True), Outcome.TIMEOUT),
        (died(signal.SIGKILL, timed_out=True, oom_kills=1), Outcome.TIMEOUT),
        (raw(exit_status=0, timed_out=True), Outcome.TIMEOUT),
    ],
)
def test_endings(run: RawRun, outcome: Outcome) -> None:
    assert classify(run, EFFECTIVE).outcome == outcome


@pytest.mark.parametrize(
    "words",
    [
        "terminate called after throwing an instance of 'std::bad_alloc'",
        "Traceback (most recent call last):\nMemoryError",
        "sort: Cannot allocate memory",
        "cc1plus: out of memory allocating 65536 bytes",
        "virtual memory exhausted: Cannot allocate memory",
        'Exception in thread "main" java.lang.OutOfMemoryError: Java heap space',
    ],
)
def test_a_stated_sign_of_no_memory(words: str) -> None:
    assert classify(raw(exit_status=1, stderr_tail=words), EFFECTIVE).outcome == "out-of-memory"
    assert classify(died(signal.SIGABRT, stderr_tail=words), EFFECTIVE).outcome == "out-of-memory"


def test_a_driver_whose_program_crashed() -> None:
    run = raw(exit_status=1, processes=[killed("/usr/lib/gcc/cc1plus", signal.SIGABRT)])
    named = classify(run, EFFECTIVE)
    assert named.outcome == Outcome.CRASHED
    assert "cc1plus was killed by SIGABRT" in named.detail


def test_a_helper_that_was_stopped_is_no_crash() -> None:
    run = raw(exit_status=1, processes=[killed("/usr/bin/server", signal.SIGTERM)])
    assert classify(run, EFFECTIVE).outcome == Outcome.FAILED
    crash_that_was_coped_with = raw(processes=[killed("/usr/bin/test", signal.SIGSEGV)])
    assert classify(crash_that_was_coped_with, EFFECTIVE).outcome == Outcome.OK


def test_a_shell_status_of_128_plus_a_signal_names_the_signal() -> None:
    named = classify(raw(exit_status=139), EFFECTIVE)
    assert named.outcome == Outcome.FAILED
    assert "SIGSEGV" in named.detail
    assert "shell" not in classify(raw(exit_status=128), EFFECTIVE).detail
    assert "shell" not in classify(raw(exit_status=255), EFFECTIVE).detail


def test_another_exit_status_can_be_the_expected_one() -> None:
    expected = frozenset({0, 3})
    assert classify(raw(exit_status=3), EFFECTIVE, expected).outcome == Outcome.OK
    assert classify(raw(exit_status=0), EFFECTIVE, frozenset({3})).outcome == Outcome.FAILED


def test_a_run_under_another_allocator_counts_only_if_it_went_well() -> None:
    named = classify(raw(), INEFFECTIVE)
    assert (named.outcome, named.detail) == (Outcome.NOT_INTERPOSED, INEFFECTIVE.detail)
    assert classify(died(signal.SIGSEGV), INEFFECTIVE).outcome == Outcome.CRASHED


def test_the_detail_ends_with_the_last_words() -> None:
    words = "\n".join(f"line {number}" for number in range(20)) + "\n\n"
    detail = classify(raw(exit_status=2, stderr_tail=words), EFFECTIVE).detail
    assert detail.startswith("exit status 2\n")
    assert detail.endswith("line 18\nline 19")
    assert "line 3" not in detail.splitlines()
    assert len(classify(raw(exit_status=2, stderr_tail="x" * 8192), EFFECTIVE).detail) < 1000


def test_an_interrupted_run_has_no_outcome() -> None:
    with pytest.raises(ValueError, match="interrupted"):
        classify(raw(interrupted=True), EFFECTIVE)


def test_names_of_signals() -> None:
    assert signal_name(11) == "SIGSEGV"
    assert signal_name(signal.SIGRTMIN + 3) == f"signal {signal.SIGRTMIN + 3}"
