# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Files that grow by a line: each is there whole or not at all, and a torn one is cut off."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from heapwright.base.line_file import BLOCK, append_line, cut_torn_line


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "lines"


@pytest.fixture
def descriptor(file: Path) -> Iterator[int]:
    opened = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND)
    yield opened
    os.close(opened)


def test_lines_come_one_after_the_other(file: Path, descriptor: int) -> None:
    append_line(descriptor, "one")
    append_line(descriptor, "zwei \udcff")
    assert file.read_text() == "one\nzwei \\udcff\n"


def test_a_line_that_does_not_fit_leaves_nothing(
    file: Path, descriptor: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    append_line(descriptor, "one")
    write = os.write
    monkeypatch.setattr(os, "write", lambda to, data: write(to, data[:3]))
    with pytest.raises(OSError, match="no space left"):
        append_line(descriptor, "another")
    assert file.read_text() == "one\n"


@pytest.mark.parametrize("whole", ["", "one\n", "one\ntwo\n", "x" * 3 * BLOCK + "\n"])
@pytest.mark.parametrize("torn", ["", "half", "y" * 2 * BLOCK])
def test_a_torn_line_is_cut_off(whole: str, torn: str, file: Path, descriptor: int) -> None:
    file.write_text(whole + torn)
    cut_torn_line(descriptor)
    assert file.read_text() == whole
