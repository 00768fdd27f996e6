# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Folders of runs: gone when a run is over, and swept away when their maker is dead."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from heapwright.base.scratch import OTHER_PLACES, Scratch, sweep

MAKER = """
import os, sys
from heapwright.base.scratch import Scratch
folder = Scratch()
(folder.path / "table").mkdir()
(folder.path / "table" / "rows").write_text("1")
print(folder.path, flush=True)
sys.stdin.read()
os._exit(0)
"""
NOBODY = 65534


@pytest.fixture(autouse=True)
def own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr("heapwright.base.scratch.OTHER_PLACES", ())


def left_by_a_dead_process(place: Path) -> Path:
    environment = {"TMPDIR": str(place), "PYTHONPATH": ":".join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", MAKER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        text=True,
    ) as maker:
        assert maker.stdout is not None
        folder = Path(maker.stdout.readline().strip())
        assert (folder / "table" / "rows").is_file()
        assert sweep() == [], "its maker lives"
        maker.kill()
    return folder


def test_a_folder_is_gone_with_all_that_is_in_it(tmp_path: Path) -> None:
    with Scratch(tmp_path) as first, Scratch() as second:
        assert first != second
        assert first.parent == second.parent
        (first / "file").touch()
        (second / "folder").mkdir()
        (second / "folder" / "file").touch()
        assert sweep() == [], "their maker lives"
        assert second.is_dir()
    assert list(tmp_path.iterdir()) == []


def test_the_folder_is_private_to_its_user(tmp_path: Path) -> None:
    with Scratch() as folder:
        assert folder.stat().st_mode & 0o777 == 0o700
    assert list(tmp_path.iterdir()) == []


def test_read_only_files_are_removed_too(tmp_path: Path) -> None:
    with Scratch() as folder:
        inner = folder / "outer" / "inner"
        inner.mkdir(parents=True)
        (inner / "file").touch()
        inner.chmod(0o500)
        inner.parent.chmod(0)
    assert list(tmp_path.iterdir()) == []


def test_leftovers_of_an_ended_process_are_removed(tmp_path: Path) -> None:
    folder = left_by_a_dead_process(tmp_path)
    assert sweep() == [folder]
    assert not folder.exists()


def test_a_folder_without_a_lock_of_a_dead_process_is_swept(tmp_path: Path) -> None:
    folder = left_by_a_dead_process(tmp_path)
    (folder / "table" / "rows").unlink()
    (folder / "table").rmdir()
    assert sweep() == [folder]


def test_one_that_is_swept_before_it_is_locked_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Path] = []
    mkdir = Path.mkdir

    def swept_at_once(path: Path, mode: int = 0o777) -> None:
        mkdir(path, mode)
        made.append(path)
        if len(made) == 1:
            assert sweep() == [path]

    monkeypatch.setattr(Path, "mkdir", swept_at_once)
    with Scratch() as folder:
        assert folder == made[1] != made[0]
        assert folder.is_dir()
        assert sweep() == []
    assert list(tmp_path.iterdir()) == []


def test_foreign_files_stay(tmp_path: Path) -> None:
    with Scratch() as folder:
        name = folder.name
    host, _, process = name.partition("-")
    elsewhere = tmp_path / f"heapwright.0ther0ne-{process}"
    plain = tmp_path / f"heapwright-abcdef01-{process}"
    for other in (elsewhere, plain):
        other.mkdir()
        (other / "mine").touch()
    kept = tmp_path / "kept"
    kept.mkdir()
    (tmp_path / name).symlink_to(kept)
    (tmp_path / f"{host}-1-1").touch()
    assert sweep() == []
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted(
        (elsewhere.name, plain.name, "kept", name, f"{host}-1-1")
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")
def test_another_users_folder_stays(tmp_path: Path) -> None:
    folder = left_by_a_dead_process(tmp_path)
    os.chown(folder, NOBODY, NOBODY)
    assert sweep() == []
    assert (folder / "table" / "rows").exists()


def test_other_places_are_swept_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "other"
    other.mkdir()
    folder = left_by_a_dead_process(other)
    monkeypatch.setattr("heapwright.base.scratch.OTHER_PLACES", (str(other), "/no/such"))
    assert sweep() == [folder]
    assert "/tmp" in OTHER_PLACES
