# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A server is probed until it answers. When it is stopped, it is gone with all that it started."""

import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from heapwright.artefacts.run.measured import Outcome
from heapwright.base.errors import HeapwrightError
from heapwright.base.native import witness
from heapwright.experiment.runner import RunSpec, with_preload
from heapwright.experiment.server import Question, Server

ENVIRONMENT = {key: text for key, text in os.environ.items() if key != "LD_PRELOAD"}
SERVER = """
import os, socket, subprocess, sys
child = subprocess.Popen(["sleep", "600"])
print(os.getpid(), child.pid, file=open("pids", "w"))
block = b"x" * 50_000_000
if sys.argv[1] == "port":
    listening = socket.create_server(("127.0.0.1", int(sys.argv[2])))
else:
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(sys.argv[2])
    listening.listen()
while True:
    listening.accept()[0].close()
"""


@pytest.fixture(autouse=True)
def programs(needs_programs: Callable[..., None]) -> None:
    needs_programs("run")


def spec(folder: Path, *words: str) -> RunSpec:
    environment = with_preload(ENVIRONMENT, str(witness()))
    return RunSpec((sys.executable, "-c", SERVER, *words), environment, cwd=folder)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


@pytest.mark.parametrize("kind", ["port", "socket"])
def test_it_is_awaited_measured_and_ended(kind: str, tmp_path: Path) -> None:
    port = free_port()
    where = str(port) if kind == "port" else "socket"
    question = Question(port=port) if kind == "port" else Question(socket=Path("socket"))
    with Server(spec(tmp_path, kind, where), question, 60, ENVIRONMENT) as server:
        assert server.await_ready() is None
        assert question.answered(ENVIRONMENT, tmp_path)
        raw, early = server.stop()
    assert early is None
    assert not raw.interrupted
    assert raw.peak_rss_bytes is not None
    assert raw.peak_rss_bytes > 50_000_000
    for pid in (tmp_path / "pids").read_text().split():
        assert not Path(f"/proc/{pid}").exists()


TIDY = "trap 'rm elsewhere; exit' TERM; touch elsewhere; while :; do sleep 0.05; done"
STUBBORN = "trap '' TERM; echo $$ >elsewhere; while :; do sleep 0.05; done"


def test_a_server_that_is_left_may_tidy_up(tmp_path: Path) -> None:
    tidy = RunSpec(("/bin/sh", "-c", TIDY), ENVIRONMENT, cwd=tmp_path)
    with Server(tidy, Question(path=Path("elsewhere")), 60, ENVIRONMENT) as server:
        assert server.await_ready() is None
    assert not (tmp_path / "elsewhere").exists()


def test_a_server_that_is_left_and_stays_is_killed(tmp_path: Path) -> None:
    stubborn = RunSpec(("/bin/sh", "-c", STUBBORN), ENVIRONMENT, cwd=tmp_path)
    question = Question(command=("test", "-s", "elsewhere"))
    with Server(stubborn, question, 60, ENVIRONMENT) as server:
        assert server.await_ready() is None
    pid = (tmp_path / "elsewhere").read_text().strip()
    assert not Path(f"/proc/{pid}").exists()


def test_a_server_that_ends_has_not_been_ready(tmp_path: Path) -> None:
    dying = RunSpec(("/bin/sh", "-c", "kill -SEGV $$"), ENVIRONMENT, cwd=tmp_path)
    with Server(dying, Question(path=Path("never")), 60, ENVIRONMENT) as server:
        named = server.await_ready()
    assert named is not None
    assert named.outcome is Outcome.CRASHED
    assert "ended before it answered: killed by SIGSEGV" in named.detail


def test_a_good_exit_is_no_good_end_for_a_server(tmp_path: Path) -> None:
    leaving = RunSpec(("/bin/true",), ENVIRONMENT, cwd=tmp_path)
    with Server(leaving, Question(command=("false",)), 60, ENVIRONMENT) as server:
        named = server.await_ready()
    assert named is not None
    assert named.outcome is Outcome.FAILED


def test_patience_ends(tmp_path: Path) -> None:
    mute = RunSpec(("sleep", "600"), ENVIRONMENT, cwd=tmp_path)
    with Server(mute, Question(command=("false",)), 0.1, ENVIRONMENT) as server:
        named = server.await_ready()
        assert named is not None
        assert named.outcome is Outcome.TIMEOUT
        assert "`false`" in named.detail


def test_an_address_that_another_server_answers_is_refused(tmp_path: Path) -> None:
    mute = RunSpec(("sleep", "600"), ENVIRONMENT, cwd=tmp_path)
    with pytest.raises(HeapwrightError, match="answers before the server is started"):
        Server(mute, Question(command=("true",)), 1, ENVIRONMENT)


def test_a_question_that_cannot_be_asked_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(HeapwrightError, match="no-such-program"):
        Question(command=("no-such-program",)).answered(ENVIRONMENT, tmp_path)


def test_a_kill_that_is_not_ours_is_no_lack_of_patience(tmp_path: Path) -> None:
    """Killed by another at the moment of its end. The wait for it was not in vain."""
    script = "trap 'kill -9 $$' TERM; touch here; while :; do sleep 0.1; done"
    killed = RunSpec(("sh", "-c", script), ENVIRONMENT, cwd=tmp_path, grace_s=60, witnessed=False)
    with Server(killed, Question(path=Path("here")), 60, ENVIRONMENT) as server:
        assert server.await_ready() is None
        _, early = server.stop()
    assert early is not None
    assert early.outcome is Outcome.CRASHED
    assert early.detail.startswith("the server ended while it was needed: killed by SIGKILL")
