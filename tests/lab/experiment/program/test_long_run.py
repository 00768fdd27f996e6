# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Long runs of a small server: what is seen, and every way in which they can end."""

import errno
import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from heapwright.artefacts.long_run.document import Load, Round, Sample
from heapwright.artefacts.program.file import ProgramFile
from heapwright.artefacts.run.measured import Outcome
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.experiment.measurement import Conditions, Specs
from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.program.long_run import LongRunResult, LongRuns, interval_of
from heapwright.experiment.program.session import Prepared

from .programs import ENVIRONMENT, FILE, GLIBC, small

SHORT = Load(hours=1.2 / 3600)
PATIENT = FILE.replace('pattern = "answer hello"', 'pattern = "answer (hello|bye)"')


@pytest.fixture(autouse=True)
def own_place(
    needs_programs: Callable[..., None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[None]:
    """Temporary folders are in a place of the test's, which is empty in the end."""
    needs_programs("run")
    assert tmp_path.is_dir()  # made before the place changes
    with tempfile.TemporaryDirectory(prefix="hw-", dir="/tmp") as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        yield
        assert list(Path(folder).iterdir()) == []


def take(
    file: ProgramFile, load: Load = SHORT, keep: Callable[[Sample | Round], None] | None = None
) -> LongRunResult:
    with PreloadPaths() as paths:
        specs = Specs(Conditions((), ENVIRONMENT, Path.cwd()), paths)
        runs = LongRuns(Prepared(file, None), specs, paths)
        return runs.take(GLIBC, load, keep or (lambda _: None))


def test_memory_is_seen_over_time_and_everything_is_kept_at_once(tmp_path: Path) -> None:
    kept: list[Sample | Round] = []
    taken = take(small(tmp_path), keep=kept.append)
    assert taken.named.outcome is Outcome.OK, taken.named.detail
    assert not taken.interrupted
    assert [each for each in kept if isinstance(each, Sample)] == taken.samples
    assert [each for each in kept if isinstance(each, Round)] == taken.rounds
    assert taken.rounds[0].responses == {"rate": 200.0}
    times = [each.time_s for each in taken.samples]
    assert times == sorted(times)
    last = taken.samples[-1]
    assert last.resident_bytes > last.anonymous_bytes > 100_000
    assert taken.sources == {"mallinfo2"}
    assert last.live_bytes is not None
    assert 0 < last.live_bytes < last.anonymous_bytes


def test_a_load_that_changes(tmp_path: Path) -> None:
    load = Load(hours=3 / 3600, rest_s=0.3, vary="word", values=("hello", "bye"))
    taken = take(small(tmp_path, text=PATIENT), load)
    assert taken.named.outcome is Outcome.OK, taken.named.detail
    assert [each.value for each in taken.rounds[:3]] == ["hello", "bye", "hello"]
    assert {each.busy for each in taken.samples} >= {False}
    begins = [each.begin_s for each in taken.rounds]
    assert all(
        later - each.end_s >= 0.3 for each, later in zip(taken.rounds, begins[1:], strict=False)
    )


@pytest.mark.parametrize(
    ("way", "outcome", "words"),
    [
        ("early", Outcome.FAILED, "the server ended before it answered"),
        ("dies", Outcome.CRASHED, "the server ended while it was needed: killed by SIGSEGV"),
        ("lies", Outcome.FAILED, "not so: the answer is what was said"),
        ("forks", Outcome.OK, ""),
        ("child", Outcome.OK, ""),
    ],
)
def test_how_a_long_run_can_end(tmp_path: Path, way: str, outcome: Outcome, words: str) -> None:
    taken = take(small(tmp_path, way=way))
    assert taken.named.outcome is outcome, taken.named.detail
    assert words in taken.named.detail
    assert bool(taken.samples) is (way != "early")


def test_a_server_that_is_never_ready(tmp_path: Path) -> None:
    taken = take(
        small(tmp_path, text=FILE.replace("timeout_s = 20", "timeout_s = 1"), way="silent")
    )
    assert taken.named.outcome is Outcome.TIMEOUT
    assert "did not answer" in taken.named.detail
    assert taken.samples == []


def test_a_client_that_hangs_ends_the_run_and_keeps_the_series(tmp_path: Path) -> None:
    text = FILE.replace("timeout_s = 60", "timeout_s = 1")
    taken = take(small(tmp_path, text=text, way="mute"), Load(hours=0.01))
    assert taken.named.outcome is Outcome.TIMEOUT
    assert "still running when its time was up" in taken.named.detail
    assert taken.samples


def test_a_client_that_runs_when_the_time_is_up_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("heapwright.experiment.program.session.WAKE_S", 0.1)
    taken = take(small(tmp_path, way="mute"))
    assert taken.named.outcome is Outcome.OK, taken.named.detail
    assert taken.rounds == []
    assert taken.samples


def test_ctrl_c_keeps_what_was_seen(tmp_path: Path) -> None:
    def interrupt(seen: Sample | Round) -> None:
        if isinstance(seen, Round):
            os.kill(os.getpid(), signal.SIGINT)

    taken = take(small(tmp_path), Load(hours=1.0), interrupt)
    assert taken.interrupted
    assert taken.named.outcome is Outcome.OK, taken.named.detail
    assert taken.samples
    assert len(taken.rounds) == 1


@pytest.mark.parametrize(
    ("load", "words"),
    [
        (Load(hours=1.0, vary="nothing", values=("1", "2")), "has no parameter 'nothing'"),
        (Load(hours=1.0, vary="way", values=("1", "2")), "does not depend on 'way'"),
    ],
)
def test_a_load_that_cannot_change_so(tmp_path: Path, load: Load, words: str) -> None:
    with pytest.raises(HeapwrightError, match=words):
        take(small(tmp_path), load)


def test_a_parameter_of_the_server_cannot_change(tmp_path: Path) -> None:
    text = FILE.replace('"{word}", "{patience}"]', '"{word}", "{patience}", "{way}"]')
    with pytest.raises(HeapwrightError, match="also of the server"):
        take(small(tmp_path, text=text), Load(hours=1.0, vary="way", values=("a", "b")))


def test_a_command_has_no_memory_for_hours(tmp_path: Path) -> None:
    text = FILE.partition("[server]")[0] + "[environment]\nWAY = '{way}'\n"
    with pytest.raises(HeapwrightError, match="small is no server"):
        take(small(tmp_path, text=text))


def test_a_socket_that_is_in_use(tmp_path: Path) -> None:
    text = FILE.replace('{ socket = "{run}/s" }', '{ path = "{folder}/server.py" }')
    with pytest.raises(HeapwrightError, match="answers before the server is started"):
        take(small(tmp_path, text=text))


def test_no_room_for_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(HeapwrightError, match="No space left") as raised:
        take(small(tmp_path))
    assert raised.value.exit_code is ExitCode.NOT_WRITTEN


@pytest.mark.parametrize(("hours", "interval"), [(0.001, 0.2), (1.0, 1.8), (1000.0, 60.0)])
def test_how_often_it_is_looked(hours: float, interval: float) -> None:
    assert interval_of(Load(hours=hours)) == pytest.approx(interval)
