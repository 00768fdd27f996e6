# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Damaged and truncated core files give an answer or a message. No signal ends the look."""

import random
import subprocess
from pathlib import Path

import pytest

from heapwright.base import native
from heapwright.commands.look import Options, run_look

from .conftest import Start
from .core_file import write_core

DAMAGED = 30
WORDS = 40
HEAD = 8192
PATIENCE_S = 60


def look(core: Path, *options: str) -> "subprocess.CompletedProcess[bytes]":
    words = [str(native.program("look")), *options, "--core", str(core)]
    return subprocess.run(words, capture_output=True, timeout=PATIENCE_S, check=False)


def test_damaged_cores_are_survived(shape: Start, tmp_path: Path) -> None:
    core = tmp_path / "core"
    with shape("fast-bins") as truth:
        write_core(truth.pid, core)
    whole = core.read_bytes()
    draw = random.Random(7)
    for number in range(DAMAGED):
        damaged = bytearray(whole)
        for _ in range(WORDS):
            # The tables at the begin, or anything.
            at = draw.randrange(64, HEAD if number % 2 else len(damaged) - 8) & ~7
            damaged[at : at + 8] = draw.choice([bytes(8), b"\xff" * 8, draw.randbytes(8)])
        core.write_bytes(damaged)
        done = look(core)
        assert done.returncode in {0, 1}, (number, done.returncode, done.stderr)
        assert bool(done.stderr) == (done.returncode == 1)


def test_truncated_cores_are_survived(shape: Start, tmp_path: Path) -> None:
    core = tmp_path / "core"
    with shape("fast-bins") as truth:
        write_core(truth.pid, core)
    whole = core.read_bytes()
    for part in range(1, 20):
        core.write_bytes(whole[: len(whole) * part // 20])
        done = look(core)
        assert done.returncode == 0, done.stderr
        assert b'"missing_bytes":0' not in done.stdout


def test_a_heap_that_a_core_lacks_is_not_called_changed(
    static_shape: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    core = tmp_path / "core"
    with static_shape("small") as truth:
        write_core(truth.pid, core)
    core.write_bytes(core.read_bytes()[: core.stat().st_size // 6])
    run_look(Options(str(core), pause=False, leaks=True, json_file=None, quiet=False))
    said = capsys.readouterr().out
    assert "no block was recognised. The core file lacks it" in said
    assert "--pause" not in said
