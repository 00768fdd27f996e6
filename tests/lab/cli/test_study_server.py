# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Studies of a server: it is started, awaited, measured, and ended, and its crash has a name."""

import shutil
import sys
from pathlib import Path

import pytest

from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.study_results.reader import Results, open_results
from heapwright.base.errors import ExitCode

from .studies import write_text
from .tools import Heapwright

pytestmark = pytest.mark.usefixtures("native")

CLIENT = """
import socket, sys
connection = socket.socket(socket.AF_UNIX)
connection.connect(sys.argv[1])
stream = connection.makefile("rwb")
for number in range(200):
    stream.write(b"set key%d 0 0 10000\\r\\n%s\\r\\n" % (number, b"x" * 10000))
    stream.flush()
    assert stream.readline() == b"STORED\\r\\n"
stream.write(b"stats\\r\\n")
stream.flush()
for line in stream:
    if line.startswith((b"STAT pid ", b"STAT total_items ")):
        print(line.decode().strip())
    if line.startswith(b"END"):
        break
"""
STUDY = """
format = 1
name = "small"
title = "a server"
command = ["{python}", "{{folder}}/client.py", "{{folder}}/socket"]
[factors.allocator]
levels = ["glibc", "kingsley"]
[design]
blocks = 2
[hooks]
after_run = "rm -f {{folder}}/socket"
[hooks.server]
command = {server}
ready = {{ {ready} }}
timeout_s = {patience}
preload = {preload}
[responses.items]
from = "output"
pattern = 'total_items (?P<value>[0-9]+)'
[responses.pid]
from = "output"
pattern = 'pid (?P<value>[0-9]+)'
[responses.memory]
from = "peak_rss"
[responses.idle]
from = "idle_rss"
[responses.time]
from = "wall"
"""
MEMCACHED = '["memcached", "-u", "root", "-s", "{folder}/socket"]'


def study_text(
    folder: Path, server: str, ready: str, *, patience: float = 60, preload: bool = True
) -> str:
    (folder / "client.py").write_text(CLIENT)
    return STUDY.format(
        python=sys.executable,
        server=server,
        ready=ready,
        patience=patience,
        preload=str(preload).lower(),
    )


def run(
    heapwright: Heapwright,
    folder: Path,
    server: str = MEMCACHED,
    ready: str = 'socket = "{folder}/socket"',
    *,
    patience: float = 60,
    preload: bool = True,
    status: ExitCode = ExitCode.OK,
) -> Results:
    text = study_text(folder, server, ready, patience=patience, preload=preload)
    done = heapwright("study", "run", write_text(folder, text), "-o", "results")
    assert done.status == status, done.err
    return open_results(folder / "results")


@pytest.fixture
def memcached() -> None:
    if shutil.which("memcached") is None:
        pytest.skip("no memcached (package memcached)")


@pytest.mark.programs
@pytest.mark.usefixtures("memcached")
def test_a_server_is_measured_under_each_allocator(heapwright: Heapwright, tmp_path: Path) -> None:
    results = run(heapwright, tmp_path)
    frame = results.frame()
    assert frame["items"].to_list() == [200.0] * 4
    assert frame["memory"].min() > 200 * 10_000
    assert frame["idle"].min() > 200 * 10_000
    pids = [int(pid) for pid in frame["pid"]]
    assert len(set(pids)) == 4
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
    runs = list(results.whole_runs({(each.block, each.treatment) for each in results.runs()}))
    for each in runs:
        assert each.interposed
        assert any(Path(process.exe).name == "memcached" for process in each.processes)
        assert not any(process.exe == sys.executable for process in each.processes)


@pytest.mark.programs
@pytest.mark.usefixtures("memcached")
def test_a_command_is_measured_beside_a_plain_server(
    heapwright: Heapwright, tmp_path: Path
) -> None:
    results = run(heapwright, tmp_path, preload=False)
    assert results.frame()["items"].to_list() == [200.0] * 4
    for each in results.whole_runs({(run.block, run.treatment) for run in results.runs()}):
        assert each.interposed
        assert not any(Path(process.exe).name == "memcached" for process in each.processes)


def test_a_server_that_ends_is_the_runs_end(heapwright: Heapwright, tmp_path: Path) -> None:
    server = '["sh", "-c", "kill -ABRT $$"]'
    results = run(heapwright, tmp_path, server, status=ExitCode.NOTHING_COMPARED)
    assert {run.outcome for run in results.runs()} == {Outcome.CRASHED}
    assert all("the server ended before it answered" in run.detail for run in results.runs())
    assert not any(run.interposed for run in results.runs())
    assert results.frame()["time"].to_list() == [None] * 4


def test_a_server_that_never_answers_is_a_timeout(heapwright: Heapwright, tmp_path: Path) -> None:
    results = run(
        heapwright,
        tmp_path,
        '["sleep", "600"]',
        patience=0.3,
        status=ExitCode.NOTHING_COMPARED,
    )
    assert {run.outcome for run in results.runs()} == {Outcome.TIMEOUT}


def test_an_address_that_already_answers_is_refused(heapwright: Heapwright, tmp_path: Path) -> None:
    (tmp_path / "there").touch()
    text = study_text(tmp_path, '["sleep", "600"]', 'path = "{folder}/there"')
    done = heapwright("study", "run", write_text(tmp_path, text), "-o", "results")
    assert done.status == ExitCode.BAD_INPUT
    assert "answers before the server is started" in done.err


def test_a_server_that_no_preload_reaches_is_refused(
    heapwright: Heapwright, tmp_path: Path
) -> None:
    text = study_text(tmp_path, '["no-such-server"]', 'path = "{folder}/there"')
    done = heapwright("study", "run", write_text(tmp_path, text), "-o", "results")
    assert done.status == ExitCode.BAD_INPUT
    assert "command not found: no-such-server" in done.err
