# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""One run of a program: what it measures, and every way in which it can end."""

import os
import re
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from heapwright.artefacts.run.measured import Outcome
from heapwright.base.errors import HeapwrightError
from heapwright.experiment.measurement import Conditions, Specs
from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.program.session import Prepared, Session

from .programs import ENVIRONMENT, FILE, GLIBC, small, take

ALONE = """format = 1
name = "alone"
title = "No server"
command = ["sh", "-c", "{line}"]
{more}
[parameters]
line = "echo hello"
way = "x"
[environment]
WAY = "{way}"
"""


@pytest.fixture(autouse=True)
def own_place(
    needs_programs: Callable[..., None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Path]:
    """Temporary folders of a run are in a place of the test's, which is empty in the end."""
    needs_programs("run")
    assert tmp_path.is_dir()  # made before the place changes
    with tempfile.TemporaryDirectory(prefix="hw-", dir="/tmp") as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        yield Path(folder)
        assert list(Path(folder).iterdir()) == []


def test_a_server_is_measured_and_its_client_beside_it(tmp_path: Path) -> None:
    taken = take(small(tmp_path, served='load = ["test -S s"]'))
    assert taken.named.outcome is Outcome.OK, taken.named.detail
    assert taken.proof.effective
    assert taken.figures["client_cpu_s"] > 0
    assert taken.figures["wall_s"] > 0
    assert taken.figures["peak_rss_bytes"] > 1_000_000
    assert taken.responses == {"rate": 200.0}
    assert "I am the server" in taken.log
    (process,) = {
        each["exe"] if isinstance(each, dict) else each.exe for each in taken.figures["processes"]
    }
    assert "python" in process


def test_a_response_where_more_is_better_is_compared_as_its_inverse(tmp_path: Path) -> None:
    file = small(tmp_path)
    with PreloadPaths() as paths:
        session = Session(Prepared(file, None), Specs(Conditions((), ENVIRONMENT, tmp_path), paths))
        taken = session.take(GLIBC, None)
    assert session.measures(taken) == {"each_s": 0.005}


@pytest.mark.parametrize(
    ("way", "outcome", "words"),
    [
        ("early", Outcome.FAILED, "the server ended before it answered: exit status 1"),
        ("dies", Outcome.CRASHED, "the server ended while it was needed: killed by SIGSEGV"),
        ("leaves", Outcome.FAILED, "the server ended while it was needed: exit status 0"),
        ("lies", Outcome.FAILED, "not so: the answer is what was said: nothing fits"),
        ("crashing-end", Outcome.CRASHED, "the server was killed by SIGSEGV while it ended"),
        ("child", Outcome.OK, ""),
        ("again", Outcome.OK, ""),
        ("forks", Outcome.OK, ""),
        ("drops", Outcome.OK, ""),
        ("clears", Outcome.NOT_INTERPOSED, "the server: not effective for "),
    ],
)
def test_how_a_server_can_end(tmp_path: Path, way: str, outcome: Outcome, words: str) -> None:
    taken = take(small(tmp_path, way=way))
    assert taken.named.outcome is outcome, taken.named.detail
    assert words in taken.named.detail


@pytest.mark.parametrize("way", ["silent", "early"])
def test_a_server_that_is_never_ready_is_reported_with_the_end_of_its_log(
    tmp_path: Path, way: str
) -> None:
    text = FILE.replace("timeout_s = 20", "timeout_s = 1")
    taken = take(small(tmp_path, text=text, way=way))
    last = "but I have nothing to say" if way == "silent" else "no: there is no such table"
    assert last in taken.named.detail
    if way == "silent":
        assert taken.named.outcome is Outcome.TIMEOUT
        assert re.search(r"did not answer at .*/s in 1 s", taken.named.detail)


def test_a_server_with_a_log_of_its_own(tmp_path: Path) -> None:
    text = FILE.replace("timeout_s = 20", 'timeout_s = 1\nlog = "pids"')
    taken = take(small(tmp_path, text=text, way="silent"))
    assert re.search(r"its log ends:\n[0-9]+$", taken.named.detail)


def test_a_server_that_ignores_signals_is_killed_and_reported(tmp_path: Path) -> None:
    text = FILE.replace("timeout_s = 20", "timeout_s = 1")
    taken = take(small(tmp_path, text=text, way="stubborn"))
    assert taken.named.outcome is Outcome.TIMEOUT
    assert "still ran 1 s after the request to stop" in taken.named.detail


def test_a_client_is_ended_when_its_server_dies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("heapwright.experiment.program.session.WAKE_S", 0.1)
    taken = take(small(tmp_path, way="dies", patience="patient"))
    assert taken.named.outcome is Outcome.CRASHED
    assert "the server ended while it was needed" in taken.named.detail


def test_a_client_that_hangs_is_ended(tmp_path: Path) -> None:
    taken = take(small(tmp_path, way="mute"), timeout_s=1.0)
    assert taken.named.outcome is Outcome.TIMEOUT
    assert "still running when its time was up" in taken.named.detail


def test_a_server_that_is_ended_by_a_command(tmp_path: Path) -> None:
    stop = 'stop = ["{python}", "{folder}/client.py", "{run}/s", "end", "hasty"]'
    assert take(small(tmp_path, served=stop)).named.outcome is Outcome.OK
    taken = take(small(tmp_path, served='stop = ["sh", "-c", "echo no >&2; exit 3"]'))
    assert taken.named.outcome is Outcome.FAILED
    assert "did not end after the request to stop: sh ended with status 3: no" in taken.named.detail


def test_a_socket_that_is_in_use(tmp_path: Path) -> None:
    text = FILE.replace('{ socket = "{run}/s" }', '{ path = "{folder}/server.py" }')
    with pytest.raises(HeapwrightError, match="answers before the server is started"):
        take(small(tmp_path, text=text))


def test_a_socket_with_too_long_a_path(tmp_path: Path) -> None:
    text = FILE.replace('{ socket = "{run}/s" }', '{ socket = "{run}/' + "s" * 100 + '" }')
    with pytest.raises(HeapwrightError, match="too long a path for the kernel"):
        take(small(tmp_path, text=text))


def test_loading_that_fails_is_an_outcome(tmp_path: Path) -> None:
    taken = take(small(tmp_path, served='load = ["echo no room >&2; exit 1"]'))
    assert taken.named.outcome is Outcome.FAILED
    assert "before the client: " in taken.named.detail
    assert "no room" in taken.named.detail


def test_a_server_that_only_serves(tmp_path: Path) -> None:
    taken = take(small(tmp_path, served="preload = false"))
    assert taken.named.outcome is Outcome.OK, taken.named.detail
    assert taken.proof.effective
    assert "client_cpu_s" not in taken.figures


def test_checks_that_are_commands_ask_while_the_server_is_there(tmp_path: Path) -> None:
    check = '[[check]]\nwhat = "it is there"\ncommand = '
    good = take(small(tmp_path, text=FILE + check + '"test -S {run}/s"\n'))
    assert good.named.outcome is Outcome.OK, good.named.detail
    bad = take(small(tmp_path, text=FILE + check + '"echo gone; test -e {run}/t"\n'))
    assert bad.named.outcome is Outcome.FAILED
    assert "not so: it is there: `echo gone; test -e " in bad.named.detail


def test_an_unreadable_response_is_a_failed_run(tmp_path: Path) -> None:
    taken = take(small(tmp_path, text=FILE.replace('"rate"\nbetter', '"speed"\nbetter')))
    assert taken.named.outcome is Outcome.FAILED
    assert "rate: it printed no line with 'speed'" in taken.named.detail


def test_ctrl_c_in_the_middle_leaves_nothing(tmp_path: Path, own_place: Path) -> None:
    """The fixture sees that no file is left; here it is seen that no process is."""
    seen: list[str] = []

    def interrupt() -> None:
        while not (found := list(own_place.glob("*/run/pids"))) or not found[0].read_text():
            if stopped.wait(0.01):
                return
        seen.append(found[0].read_text().strip())
        os.kill(os.getpid(), signal.SIGINT)

    stopped = threading.Event()
    watcher = threading.Thread(target=interrupt)
    watcher.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            take(small(tmp_path, way="mute"))
    finally:
        stopped.set()
        watcher.join()
    assert not Path(f"/proc/{seen[0]}").exists()


def test_a_program_without_a_server_lives_in_its_own_folder(tmp_path: Path) -> None:
    line = "pwd; echo $HOME $TMPDIR $WAY; touch left"
    taken = take(small(tmp_path, text=ALONE, line=line, way="y"))
    assert taken.named.outcome is Outcome.OK
    first, second = taken.stdout.splitlines()
    assert second == f"{first} {first} y"
    assert not Path(first).exists()


@pytest.mark.parametrize(
    ("check", "words"),
    [
        ('pattern = "^hello$"', ""),
        ('without = "(?i)HELLO"', "there is 'hello'"),
        ('same_as = "{folder}/hello"', ""),
        ('same_as = "{folder}/other"', "line 1 is b'hello', and should be b'hullo'"),
        ('same_as = "{folder}/longer"', "6 bytes, and should be 12"),
        ('same_as = "{folder}/none"', "cannot be read: No such file"),
        ('pattern = "x"\nfile = "none"', "nothing fits 'x'"),
    ],
)
def test_requirements(tmp_path: Path, check: str, words: str) -> None:
    for name, text in {"hello": "hello\n", "other": "hullo\n", "longer": "hello\nhello\n"}.items():
        (tmp_path / name).write_text(text)
    text = ALONE + f'[[check]]\nwhat = "it is so"\n{check}\n'
    taken = take(small(tmp_path, text=text))
    assert taken.named.outcome is (Outcome.FAILED if words else Outcome.OK)
    assert words in taken.named.detail


def test_each_run_has_a_fresh_copy(tmp_path: Path) -> None:
    data = tmp_path / "data"
    (data / "table").mkdir(parents=True)
    (data / "table" / "rows").write_text("1\n")
    more = 'fresh = ["table"]\nbefore = ["echo 2 >>table/rows"]\n'
    text = ALONE + '[data]\ncommands = ["true"]\n'
    for _ in range(2):
        taken = take(small(tmp_path, more, text=text, line="cat table/rows"), data)
        assert taken.stdout == "1\n2\n"
    assert (data / "table" / "rows").read_text() == "1\n"


def test_a_failure_before_a_run_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(
        HeapwrightError, match="before a run of alone: `exit 4` ended with status 4"
    ):
        take(small(tmp_path, 'before = ["exit 4"]', text=ALONE))
    with pytest.raises(HeapwrightError, match="the disk is full"):
        take(small(tmp_path, 'before = ["cat {folder}/server.py >/dev/full"]', text=ALONE))
