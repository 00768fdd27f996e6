# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Folders of runs: gone when a run is over, and swept away when its maker is dead."""

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from heapwright.experiment.program.place import RunFolder, sweep

MAKER = """
import os, sys
from heapwright.experiment.program.place import RunFolder
folder = RunFolder()
(folder.path / "table").mkdir()
(folder.path / "table" / "rows").write_text("1")
print(folder.path, flush=True)
sys.stdin.read()
os._exit(0)
"""


@pytest.fixture(autouse=True)
def own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def test_a_folder_is_gone_when_its_run_is_over(tmp_path: Path) -> None:
    with RunFolder() as folder:
        (folder / "inner").mkdir()
        assert sweep() == [], "its maker lives"
        assert folder.is_dir()
    assert list(tmp_path.iterdir()) == []


def test_what_a_dead_maker_left_is_swept_away(tmp_path: Path) -> None:
    environment = {"TMPDIR": str(tmp_path), "PYTHONPATH": ":".join(sys.path)}
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
    assert sweep() == [folder]
    assert not folder.exists()


def test_what_is_no_folder_of_a_run_stays(tmp_path: Path) -> None:
    other = tmp_path / "heapwright-a-b-c"
    other.mkdir()
    (other / "mine").touch()
    assert sweep() == []
    assert (other / "mine").exists()
