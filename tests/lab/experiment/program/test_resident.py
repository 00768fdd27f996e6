# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Resident memory of a tree of processes, as /proc tells it."""

import os
import subprocess
import sys
from pathlib import Path

from heapwright.experiment.program.resident import PAGE, Resident, descendants, resident_of

ROLLUP = """00400000-7fff [rollup]
Rss:                9000 kB
Pss:                4000 kB
Pss_Anon:           3000 kB
LazyFree:             64 kB
SwapPss:              12 kB
"""
CHILDREN = """
import subprocess, sys
subprocess.run([sys.executable, "-c", "print(1, flush=True); input()"])
"""


def test_proportional_sizes_are_taken(tmp_path: Path) -> None:
    folder = tmp_path / "7"
    folder.mkdir()
    (folder / "smaps_rollup").write_text(ROLLUP)
    assert resident_of(7, tmp_path) == Resident(4000 << 10, 3000 << 10, 64 << 10, 12 << 10)


def test_statm_is_read_if_smaps_rollup_is_absent(tmp_path: Path) -> None:
    folder = tmp_path / "7"
    folder.mkdir()
    (folder / "statm").write_text("900 100 30 1 0 50 0\n")
    assert resident_of(7, tmp_path) == Resident(100 * PAGE, 70 * PAGE, 0, 0)


def test_an_ended_process_has_no_resident_memory(tmp_path: Path) -> None:
    assert resident_of(7, tmp_path) is None
    folder = tmp_path / "7"
    folder.mkdir()
    (folder / "smaps_rollup").write_text("")
    assert resident_of(7, tmp_path) is None
    assert descendants(7, tmp_path) == []


def test_a_real_tree_is_found() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", CHILDREN], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdin is not None
        assert parent.stdout is not None
        parent.stdout.readline()
        below = descendants(os.getpid())
        (child,) = descendants(parent.pid)
        assert {parent.pid, child} <= set(below)
        seen = resident_of(child)
        assert seen is not None
        assert 0 < seen.anonymous < seen.resident
        parent.stdin.close()


def test_sums() -> None:
    assert Resident(1, 2, 3, 4) + Resident(10, 20, 30, 40) == Resident(11, 22, 33, 44)
