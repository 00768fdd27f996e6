# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The writer of results folders appends whole lines, once each, and one at a time."""

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.run.provenance import read_environment
from heapwright.artefacts.study_results.folder import Folder
from heapwright.artefacts.study_results.reader import open_results
from heapwright.artefacts.study_results.runs import DETAILS_FILE, RUNS_FILE, StudyDesign, StudyRun
from heapwright.artefacts.study_results.store import Store, host_file, is_being_written
from heapwright.base.errors import ExitCode, HeapwrightError

from .test_reader import DESIGN, run

TEXT = "the study\n"


def made_in(path: Path) -> list[tuple[int, str]]:
    return [each.key for each in Folder.open(path).runs()]


def test_a_results_folder_is_created_and_resumed(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "results"
    with Store.create(path, TEXT, DESIGN) as store:
        store.keep(run(0, "one"))
        store.keep(run(1, "one", outcome=Outcome.CRASHED))
    with Store(Folder.open(path)) as store:
        assert store.made == {(0, "one"): Outcome.OK, (1, "one"): Outcome.CRASHED}
        store.keep(run(1, "two"))
    results = open_results(path)
    assert results.design == DESIGN
    assert results.study_text == TEXT
    assert len(results.frame()) == 3


def test_a_run_that_is_there_is_not_written_again(tmp_path: Path) -> None:
    with Store.create(tmp_path / "a", TEXT, DESIGN) as store:
        store.keep(run(1, "one", 1.0))
        store.keep(run(1, "one", 2.0))
    assert made_in(tmp_path / "a") == [(1, "one")]


@pytest.mark.parametrize("torn", [b'{"allocator":"glibc","le', b"{", b'{"a": 1}' * 20_000])
def test_a_torn_line_is_cut_off_before_the_next(tmp_path: Path, torn: bytes) -> None:
    path = tmp_path / "a"
    with Store.create(path, TEXT, DESIGN) as store:
        store.keep(run(1, "one"))
    for name in (RUNS_FILE, DETAILS_FILE):
        with (path / name).open("ab") as file:
            file.write(torn)
    with Store(Folder.open(path)) as store:
        store.keep(run(1, "two"))
    assert made_in(path) == [(1, "one"), (1, "two")]
    assert open_results(path).notes == ()
    assert len(list(open_results(path).whole_runs({(1, "one"), (1, "two")}))) == 2


def test_a_header_that_was_torn_is_written_again(tmp_path: Path) -> None:
    path = tmp_path / "a"
    Store.create(path, TEXT, DESIGN).close()
    (path / RUNS_FILE).write_bytes(b'{"format":"heapw')
    with Store(Folder.open(path)) as store:
        store.keep(run(1, "one"))
    assert made_in(path) == [(1, "one")]


def test_leftovers_of_a_failed_creation_are_ignored(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.mkdir()
    (path / "study.toml").write_text(TEXT)
    (path / ".abc.tmp").write_text("{")
    Store.create(path, TEXT, DESIGN).close()
    assert made_in(path) == []


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with Store.create(path, TEXT, DESIGN):
        assert is_being_written(path)
        with pytest.raises(HeapwrightError, match="another heapwright"):
            Store(Folder.open(path))
    assert not is_being_written(path)
    Store(Folder.open(path)).close()


def test_used_folders_are_refused(tmp_path: Path) -> None:
    Store.create(tmp_path / "a", TEXT, DESIGN).close()
    with pytest.raises(HeapwrightError, match="holds results already"):
        Store.create(tmp_path / "a", TEXT, DESIGN)
    (tmp_path / "file").touch()
    with pytest.raises(HeapwrightError, match="is no folder"):
        Store.create(tmp_path / "file", TEXT, DESIGN)
    with pytest.raises(HeapwrightError, match="is not empty"):
        Store.create(tmp_path, TEXT, DESIGN)


def test_hosts_are_kept_as_they_were_first(tmp_path: Path) -> None:
    machine = read_environment([], {}).model_copy(update={"host": "a/b c"})
    with Store.create(tmp_path / "a", TEXT, DESIGN) as store:
        store.add_host(machine)
        store.add_host(machine.model_copy(update={"cpus": 4096}))
    assert host_file("a/b c") == "host-a_b_c.json"
    assert open_results(tmp_path / "a").environments == {"a/b c": machine}


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """As if the disk were full from there on."""
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)


def test_a_full_disk_loses_one_run_and_reports_it(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with Store.create(path, TEXT, DESIGN) as store:
        store.keep(run(1, "one"))
        size = (path / RUNS_FILE).stat().st_size
        with (
            files_of_at_most(size + 10),
            pytest.raises(HeapwrightError, match="cannot be written") as refused,
        ):
            store.keep(run(1, "two"))
        assert refused.value.exit_code is ExitCode.NOT_WRITTEN
        assert "study resume" in refused.value.hint
        store.keep(run(1, "two"))
    assert made_in(path) == [(1, "one"), (1, "two")]


def test_a_run_survives_being_written_and_read(tmp_path: Path) -> None:
    whole: StudyRun = run(2, "two", 3.5).model_copy(update={"detail": 'a "b"\nc', "attempt": 2})
    design: StudyDesign = DESIGN
    with Store.create(tmp_path / "a", TEXT, design) as store:
        store.keep(whole)
    (back,) = open_results(tmp_path / "a").whole_runs({(2, "two")})
    assert back == whole
