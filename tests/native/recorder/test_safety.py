# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The recorder touches no file but its launcher's, and records nothing unless asked."""

import os
import subprocess
from pathlib import Path

import pytest

from heapwright.base import native

from .bench import Bench, environment

TEXT = b"somebody else's words\n" * 1000


def run(program: Path, *arguments: str, trace: Path | None = None) -> int:
    extra = {"LD_PRELOAD": os.fspath(native.library("recorder"))}
    if trace is not None:
        extra["HEAPWRIGHT_TRACE"] = os.fspath(trace)
    words = [os.fspath(program), *arguments]
    return subprocess.run(words, env=environment() | extra, check=False).returncode


def test_without_a_trace_the_program_just_runs(recording: Bench, endings: Path) -> None:
    assert recording.folder.exists()
    assert run(endings, "exit") == 5


@pytest.mark.parametrize("content", [TEXT, b"", b"HWTRACE\x1a", b"\0" * 8192])
def test_a_file_that_is_no_trace_is_left_alone(
    endings: Path, tmp_path: Path, content: bytes
) -> None:
    foreign = tmp_path / "letters"
    foreign.write_bytes(content)
    assert run(endings, "exit", trace=foreign) == 5
    assert foreign.read_bytes() == content


def test_a_closed_trace_is_left_alone(recording: Bench, endings: Path) -> None:
    done = recording.record([endings, "exit"])
    before = done.path.read_bytes()
    assert run(endings, "exit", trace=done.path) == 5
    assert done.path.read_bytes() == before


def test_no_such_file(endings: Path, tmp_path: Path) -> None:
    assert run(endings, "exit", trace=tmp_path / "missing") == 5
    assert not (tmp_path / "missing").exists()


def test_errno_is_the_allocators(recording: Bench) -> None:
    done = recording.record([recording.program("errno.c")])
    assert done.said["exit_status"] == 0
