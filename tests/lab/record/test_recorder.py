# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The stage that records: what it refuses, and what it hands back."""

import dataclasses
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from heapwright.artefacts.trace.file import trace_info
from heapwright.base import native
from heapwright.base.errors import HeapwrightError
from heapwright.base.interruption import ended_as_interrupted, read_to_end
from heapwright.base.paths import TRACE_MAGIC
from heapwright.record import recorder
from heapwright.record.recorder import HowToRecord, Outcome, Request, record

QUIETLY = HowToRecord(system=False)


@pytest.fixture
def request_(tmp_path: Path) -> Request:
    try:
        native.program("record")
        preload = os.fspath(native.library("recorder"))
    except HeapwrightError as error:
        pytest.skip(f"needs the compiled parts: {error}")
    program = shutil.which("ls")
    assert program is not None
    return Request((program,), tmp_path / "trace", preload, dict(os.environ), QUIETLY)


def changed(request: Request, **fields: Any) -> Request:
    return dataclasses.replace(request, **fields)


def test_a_recording(request_: Request) -> None:
    outcome = record(request_)
    assert outcome.status == 0
    assert outcome.processes == outcome.threads == 1
    assert outcome.stop == "none"
    assert request_.trace.stat().st_size == outcome.bytes
    assert request_.trace.read_bytes().startswith(TRACE_MAGIC)


def test_a_trace_is_written_anew_but_nothing_else(request_: Request) -> None:
    request_.trace.write_bytes(b"")
    record(request_)
    first = request_.trace.read_bytes()
    record(request_)
    assert request_.trace.read_bytes() != first
    request_.trace.write_bytes(b"a letter")
    with pytest.raises(HeapwrightError, match="no trace"):
        record(request_)
    assert request_.trace.read_bytes() == b"a letter"


@pytest.mark.parametrize("place", [".", "/dev/null"])
def test_paths_that_are_no_files(request_: Request, place: str) -> None:
    with pytest.raises(HeapwrightError, match="no regular file"):
        record(changed(request_, trace=Path(place)))


def test_a_folder_that_is_not_there(request_: Request) -> None:
    missing = request_.trace.parent / "no" / "such" / "trace"
    with pytest.raises(HeapwrightError, match="could not be recorded") as caught:
        record(changed(request_, trace=missing))
    assert caught.value.hint == f"there is no folder {missing.parent}"


def test_a_command_that_cannot_be_started(request_: Request) -> None:
    with pytest.raises(HeapwrightError, match="cannot be started: No such file"):
        record(changed(request_, command=("./no-such-program",)))


@pytest.mark.parametrize(
    ("command", "status"), [("exit 3", 3), ("kill -9 $$", 137), ("kill -TERM $$", 143)]
)
def test_the_status_is_a_shells(request_: Request, command: str, status: int) -> None:
    assert record(changed(request_, command=("sh", "-c", command))).status == status


def test_an_interrupt_of_a_program_reaches_the_command(
    request_: Request, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a background job, or where another program sends it to the recording alone."""
    monkeypatch.setattr(recorder, "TERMINAL", str(tmp_path / "none"))
    waits = tmp_path / "waits"

    def waiting(descriptor: int) -> bytes:
        waits.touch()
        return read_to_end(descriptor)

    # An interrupt before the recording waits would end the test runner.
    monkeypatch.setattr(recorder, "read_to_end", waiting)
    waiting_first = f"until [ -e {waits} ]; do sleep 0.01; done"
    command = ("sh", "-c", f"{waiting_first}; kill -INT {os.getpid()}; exec sleep 60")
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a test runner ignores it
    try:
        outcome = record(changed(request_, command=command))
    finally:
        signal.signal(signal.SIGINT, before)
    assert outcome.signal == signal.SIGINT
    assert outcome.asked_to_end


def test_the_environment_and_the_folder_are_the_commands(request_: Request, tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    script = 'test "$WORD" = word && test "$PWD" = "$(pwd -P)" && : > made'
    environment = {**request_.environment, "WORD": "word", "PWD": os.fspath(here.resolve())}
    outcome = record(
        changed(request_, command=("sh", "-c", script), environment=environment, cwd=here)
    )
    assert outcome.status == 0
    assert (here / "made").exists()


def test_every_option_reaches_the_trace(request_: Request) -> None:
    how = HowToRecord(stacks=True, sample=7, follow=True)
    record(changed(request_, how=how))
    info = trace_info(request_.trace)
    assert (info.stacks, info.sample_interval, info.followed) == (True, 7, True)


def test_an_outcome_of_another_program_is_refused() -> None:
    with pytest.raises(ValueError, match="stop"):
        Outcome.model_validate_json('{"stop": "by magic"}')


def test_a_signal_that_ends_the_recorder_before_it_is_ready_interrupts(
    request_: Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = subprocess.Popen

    def not_ready(_words: Sequence[str], **options: Any) -> Any:
        process = start(["sleep", "60"], **options)
        signal.raise_signal(signal.SIGTERM)
        return process

    monkeypatch.setattr(subprocess, "Popen", not_ready)
    with ended_as_interrupted(), pytest.raises(KeyboardInterrupt):
        record(request_)


def test_a_signal_while_the_command_starts_is_passed_on(
    request_: Request, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    begun, witness = tmp_path / "begun", tmp_path / "witness"
    start = subprocess.Popen

    def signalled(*words: Any, **options: Any) -> Any:
        process = start(*words, **options)
        while not begun.exists():
            time.sleep(0.01)
        assert witness.exists()
        signal.raise_signal(signal.SIGTERM)
        return process

    monkeypatch.setattr(subprocess, "Popen", signalled)
    command = ("sh", "-c", f"touch {begun}; exec tail -f {begun}")
    with ended_as_interrupted():
        outcome = record(changed(request_, command=command, witness=witness))
    assert (outcome.signal, outcome.asked_to_end) == (signal.SIGTERM, True)
    assert not witness.exists()
