# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The journal keeps every finished run, for any end of the tool."""

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from heapwright.artefacts.run.journal import FORMAT, Journal, journal_folders


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_line_is_on_disk_as_soon_as_it_is_appended(tmp_path: Path) -> None:
    with Journal.open({"command": ["x"]}, [tmp_path]) as journal:
        assert journal.path is not None
        journal.append({"block": 1})
        journal.append_line('{"block":2}')
        header, first, second = lines(journal.path)
    assert header["format"] == FORMAT
    assert header["command"] == ["x"]
    assert (first["block"], second["block"]) == (1, 2)


def test_names_that_are_no_text_survive(tmp_path: Path) -> None:
    with Journal.open({"command": ["caf\udce9"]}, [tmp_path]) as journal:
        assert journal.path is not None
        assert len(lines(journal.path)) == 1


def test_appended_lines_survive_a_kill(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys, pathlib\n"
        "from heapwright.artefacts.run.journal import Journal\n"
        "journal = Journal.open({}, [pathlib.Path(sys.argv[1])])\n"
        "journal.append({'block': 1})\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, tmp_path], check=False)
    assert done.returncode == -signal.SIGKILL
    (path,) = tmp_path.iterdir()
    assert [record.get("block") for record in lines(path)] == [None, 1]


def test_only_the_user_may_read_it(tmp_path: Path) -> None:
    with Journal.open({}, [tmp_path / "new" / "folder"]) as journal:
        assert journal.path is not None
        assert journal.path.stat().st_mode & 0o777 == 0o600


def test_two_journals_in_one_second_are_two_files(tmp_path: Path) -> None:
    with Journal.open({}, [tmp_path]) as one, Journal.open({}, [tmp_path]) as other:
        assert one.path != other.path


def test_the_next_folder_is_taken_when_the_first_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with Journal.open({}, [tmp_path / "file" / "below", tmp_path / "good"]) as journal:
        assert journal.path is not None
        assert journal.path.parent == tmp_path / "good"
        assert not journal.failure


def test_without_a_folder_the_run_continues_and_reports_why(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with Journal.open({}, [tmp_path / "file" / "below"]) as journal:
        journal.append({"block": 1})
        assert journal.path is None
        assert "ot a directory" in journal.failure


def test_a_full_disk_leaves_whole_lines(tmp_path: Path) -> None:
    """The limit on a file's size has the same effect as a full disk."""
    program = (
        "import signal, sys, pathlib, resource\n"
        "from heapwright.artefacts.run.journal import Journal\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "journal = Journal.open({}, [pathlib.Path(sys.argv[1])])\n"
        "for _ in range(3): journal.append({'text': 'x' * 400})\n"
        "sys.exit(0 if journal.failure else 1)\n"
    )
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[1] != 0
    subprocess.run([sys.executable, "-c", program, tmp_path], check=True)
    (path,) = tmp_path.iterdir()
    assert len(lines(path)) == 3


def test_discard_removes_it(tmp_path: Path) -> None:
    with Journal.open({}, [tmp_path]) as journal:
        journal.discard()
        journal.discard()
    assert list(tmp_path.iterdir()) == []


def test_the_journal_folder_follows_xdg_state_home(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert journal_folders()[0] == tmp_path / "heapwright"
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    monkeypatch.setenv("HOME", "/home/somebody")
    assert journal_folders() == [
        Path("/home/somebody/.local/state/heapwright"),
        Path(tempfile.gettempdir()) / f"heapwright-{os.getuid()}",
    ]
