# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A path that cannot be checked counts as missing."""

import errno
from pathlib import Path

import pytest

from heapwright.base.paths import TRACE_MAGIC, exists, is_file, is_folder, trace_in, why_not_made


def test_the_contents_of_the_tree(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    assert (is_file(file), is_folder(file), exists(file)) == (True, False, True)
    assert (is_file(tmp_path), is_folder(tmp_path), exists(tmp_path)) == (False, True, True)
    none = tmp_path / "none"
    assert (is_file(none), is_folder(none), exists(none)) == (False, False, False)


@pytest.mark.parametrize("name", ["x" * 5000, "a\0b"])
def test_a_name_that_cannot_be_one(name: str) -> None:
    path = Path(name)
    assert not is_file(path)
    assert not is_folder(path)
    assert not exists(path)


def test_figures_that_need_rights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object, **__: object) -> None:  # the super-user would be let in
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "stat", denied)
    assert not is_file(tmp_path)
    assert not is_folder(tmp_path)
    assert not exists(tmp_path)


def test_a_folder_of_a_read_only_place_is_reported_as_read_only() -> None:
    folder = Path("/proc/.local/share/heapwright")
    with pytest.raises(FileNotFoundError) as caught:
        folder.mkdir(parents=True)
    assert why_not_made(folder, caught.value) == "/proc is read-only"
    full = OSError(errno.ENOSPC, "No space left on device")
    assert why_not_made(folder, full) == "No space left on device"


def test_a_trace_stands_alone_in_place_of_a_command(tmp_path: Path) -> None:
    trace, other = tmp_path / "trace", tmp_path / "other"
    trace.write_bytes(TRACE_MAGIC + b"more")
    other.write_bytes(b"no trace")
    assert trace_in([str(trace)]) == trace
    for words in ([str(other)], [str(trace), "word"], [str(tmp_path / "none")], []):
        assert trace_in(words) is None
