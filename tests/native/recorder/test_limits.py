# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""When the disk is full, recording stops and the program does not."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from heapwright.base import native

from .bench import Bench, limit_files

MIB = 1 << 20
CALLS = "2000000"


def test_a_limit_on_the_size_of_files(recording: Bench, endings: Path) -> None:
    run = recording.record([endings, "exit", CALLS], prepare=limit_files(MIB))
    assert (run.said["exit_status"], run.said["signal"]) == (5, 0)
    assert run.said["stop"] == "disk-full"
    assert run.path.stat().st_size <= MIB
    recording.sound(run)
    assert 10000 < run.said["events"] < 2 * int(CALLS)


def test_a_limit_of_ours(recording: Bench, endings: Path) -> None:
    run = recording.record([endings, "exit", CALLS], "--limit", str(MIB))
    assert run.said["exit_status"] == 5
    assert run.said["stop"] == "limit"
    assert run.path.stat().st_size <= MIB
    recording.sound(run)


def test_a_limit_leaves_room_for_the_accounts(
    recording: Bench, endings: Path, tmp_path: Path
) -> None:
    run = recording.record(
        [endings, "exit", CALLS],
        "--limit",
        str(MIB),
        "--witness",
        str(tmp_path / "witness"),
        behind=[native.witness()],
    )
    assert run.said["stop"] == "limit"
    assert run.path.stat().st_size <= MIB
    recording.sound(run)
    accounts = run.info.accounts
    assert accounts is not None
    assert [each.recorded for each in accounts.processes if each.executable] == [True]


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator[Path]:
    """A file system of that size, where the tests may mount one."""
    words = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"a small file system cannot be mounted here: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk(recording: Bench, endings: Path, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs the right to mount a small file system (root)")
    with small_disk(tmp_path, MIB) as folder:
        run = recording.record([endings, "exit", CALLS], path=folder / "trace")
        assert (run.said["exit_status"], run.said["signal"]) == (5, 0)
        assert run.said["stop"] == "disk-full"
        recording.sound(run)
        # What was there to be had was used: all but what the next block would have needed.
        assert run.path.stat().st_size > MIB - 2 * (64 << 10)


def test_a_place_where_no_trace_can_be(recording: Bench) -> None:
    words = recording.words(Path("/proc/trace"), "--no-system")
    done = subprocess.run([*words, "true"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "/proc/trace" in done.stderr
