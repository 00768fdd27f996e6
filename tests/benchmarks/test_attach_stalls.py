# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The script that measures stalls under attach counts requests, recordings and late answers."""

import re
import shutil
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest

from support.scripts import load_script


@pytest.fixture(scope="module")
def stalls() -> ModuleType:
    return load_script("benchmarks/attach_stalls.py")


@pytest.mark.programs
def test_the_script_records_a_loaded_server(
    stalls: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if shutil.which("redis-server") is None:
        pytest.skip("needs redis-server (package redis-server)")
    monkeypatch.setattr(sys, "argv", ["attach_stalls.py", "2", "5"])
    monkeypatch.setattr(stalls, "GOAL_MS", float("inf"))  # the machine may be busy
    assert stalls.main() == 0
    alone, recorded = capsys.readouterr().out.splitlines()[2:4]
    assert alone.startswith("| alone, 1 s |")
    assert recorded.startswith("| 2 recordings, ")
    for row in (alone, recorded):
        requests, failed = re.findall(r"[\d,.]+", row.split("|", 2)[2])[:2]
        assert int(requests.replace(",", "")) > 100
        assert failed == "0"


def test_a_late_or_wrong_answer_is_counted(stalls: ModuleType) -> None:
    answers = stalls.Answers([1.0] * 998 + [51.0, 800.0], failed=3)
    assert answers.row("t") == "| t | 2,000 | 3 | 1.00 | 800.00 | 800.0 | 2 |"


@contextmanager
def closing(path: Path) -> Iterator[tuple[int, Path]]:
    """A server that reads one request and closes the connection."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()

    def serve() -> None:
        connection, _ = listener.accept()
        connection.recv(1 << 16)
        connection.close()

    threading.Thread(target=serve, daemon=True).start()
    with listener:
        yield 0, path


def test_a_server_that_closes_the_connection_is_a_failure(
    stalls: ModuleType, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["attach_stalls.py", "1", "1"])
    monkeypatch.setattr(stalls, "server", lambda folder: closing(folder / "socket"))
    with pytest.raises(SystemExit, match="the client ended early"):
        stalls.main()
    assert "ConnectionError: the server closed the connection" in capfd.readouterr().err


def test_no_recording_is_refused(stalls: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no recording was made"):
        stalls.record(0, tmp_path / "t.trace", most=0, seconds=1.0)
