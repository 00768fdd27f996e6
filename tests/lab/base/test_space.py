# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What does not fit on a file system, or in memory, is refused with what to do."""

from pathlib import Path

import pytest

from heapwright.base import space
from heapwright.base.errors import ExitCode, HeapwrightError


def test_a_file_that_fits_is_accepted(tmp_path: Path) -> None:
    space.refuse_without_space(tmp_path / "new" / "file", 1, "a file", "")
    space.refuse_without_memory(1, "a run", "")


def test_a_file_too_large_for_the_disk_is_refused_with_both_figures(tmp_path: Path) -> None:
    found = space.free_space(tmp_path / "not" / "there" / "yet")
    assert found is not None
    free, folder = found
    assert folder == tmp_path
    with pytest.raises(HeapwrightError) as refused:
        space.refuse_without_space(tmp_path / "T", 2 * free + (1 << 40), "a trace", "draw less")
    assert refused.value.message.startswith("a trace needs about ")
    assert f"{tmp_path} has " in refused.value.message
    assert refused.value.hint == "draw less"
    assert refused.value.exit_code is ExitCode.NOT_WRITTEN


def test_memory_that_is_not_there_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(space, "MEMINFO", tmp_path / "meminfo")
    space.refuse_without_memory(1 << 60, "a run", "")  # a machine that says nothing
    (tmp_path / "meminfo").write_text("MemTotal: 9000 kB\nMemAvailable: 1024 kB\n")
    space.refuse_without_memory(1 << 20, "a run", "")
    with pytest.raises(HeapwrightError, match=r"at least 2.0 MiB of memory, and 1.0 MiB are avail"):
        space.refuse_without_memory(2 << 20, "a run", "")
