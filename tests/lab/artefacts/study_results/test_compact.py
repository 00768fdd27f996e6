# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The compact form of a results folder is read like the folder that it was made from."""

from pathlib import Path

import pytest

from heapwright.artefacts.run.measured import Outcome, ProcessRecord
from heapwright.artefacts.run.provenance import Allocator, Kind, read_environment
from heapwright.artefacts.study_results.compact import write_compact
from heapwright.artefacts.study_results.folder import Folder
from heapwright.artefacts.study_results.reader import Results, open_results
from heapwright.artefacts.study_results.runs import StudyDesign
from heapwright.artefacts.study_results.store import Store
from heapwright.base.errors import HeapwrightError

from .test_reader import DESIGN, run

PLACE = "/some/where"
TEXT = """format = 1
name = "made"
title = "Made"
command = ["true"]
[factors.allocator]
levels = ["one", "two"]
[responses.time]
from = "wall"
[[published]]
file = "published/made.csv"
kind = "ranking"
title = "Ranking"
"""
CELLS = tuple(
    cell.model_copy(update={"command": (f"{PLACE}/program",), "prefix": (f"{PLACE}/nice",)})
    for cell in DESIGN.treatments
)
PLACED = DESIGN.model_copy(update={"folder": PLACE, "treatments": CELLS})


def filled(path: Path, design: StudyDesign = PLACED) -> Results:
    library = Allocator(name="one", kind=Kind.FILE, path=f"{PLACE}/libone.so")
    process = ProcessRecord(pid=1, ppid=0, exe=f"{PLACE}/program", cpu_s=1.0)
    with Store.create(path, TEXT, design) as store:
        store.add_host(read_environment([library], {}))
        store.keep(run(1, "one").model_copy(update={"processes": [process]}))
        store.keep(run(1, "two"))
        store.keep(run(2, "one", outcome=Outcome.CRASHED))
    (path / "published").mkdir()
    (path / "published" / "made.csv").write_text("response,allocator,percent\ntime,one,0\n")
    return open_results(path)


def test_it_is_read_like_the_folder(tmp_path: Path) -> None:
    results = filled(tmp_path / "a")
    write_compact(results, tmp_path / "b", {(1, "one")})
    again = open_results(tmp_path / "b")
    assert again.frame().equals(results.frame())
    assert again.study_text == results.study_text
    assert again.notes == results.notes
    assert again.design.sha256 == results.design.sha256
    assert (tmp_path / "b" / "published" / "made.csv").is_file()
    whole = {each.key: each for each in again.whole_runs({(1, "one"), (1, "two")})}
    assert whole[1, "one"].rss_series
    assert not whole[1, "two"].rss_series


def test_it_contains_no_path_of_the_machine(tmp_path: Path) -> None:
    write_compact(filled(tmp_path / "a"), tmp_path / "b", {(1, "one")})
    again = Folder.open(tmp_path / "b")
    (host,) = again.environments.values()
    assert [each.path for each in host.allocators] == ["libone.so"]
    texts = [path.read_bytes() for path in (tmp_path / "b").glob("*.json")]
    lines = again.lines()[0] + str(again.details({(1, "one", 0.0)})).encode()
    assert not any(PLACE.encode() in text for text in (*texts, lines))


def test_it_is_written_again_with_the_same_bytes(tmp_path: Path) -> None:
    results = filled(tmp_path / "a")
    write_compact(results, tmp_path / "b", {(1, "one")})
    first = {path.name: path.read_bytes() for path in (tmp_path / "b").glob("*.*")}
    write_compact(open_results(tmp_path / "a"), tmp_path / "b", {(1, "one")})
    assert {path.name: path.read_bytes() for path in (tmp_path / "b").glob("*.*")} == first


def test_another_study_is_not_replaced(tmp_path: Path) -> None:
    results = filled(tmp_path / "a")
    other = filled(tmp_path / "c", PLACED.model_copy(update={"study": "other"}))
    write_compact(other, tmp_path / "b", ())
    with pytest.raises(HeapwrightError, match="holds results of the study other"):
        write_compact(results, tmp_path / "b", ())
    with pytest.raises(HeapwrightError, match="holds runs already"):
        write_compact(results, tmp_path / "c", ())


def test_several_folders_become_one(tmp_path: Path) -> None:
    filled(tmp_path / "a")
    filled(tmp_path / "c")
    both = open_results(tmp_path / "a", tmp_path / "c")
    write_compact(both, tmp_path / "b", {(1, "one"), (DESIGN.blocks + 1, "two")})
    again = open_results(tmp_path / "b")
    assert again.frame().equals(both.frame())
    assert again.design.blocks == 2 * DESIGN.blocks
    (later,) = again.whole_runs({(DESIGN.blocks + 1, "two")})
    assert later.rss_series


def test_no_run_is_added_to_it(tmp_path: Path) -> None:
    write_compact(filled(tmp_path / "a"), tmp_path / "b", ())
    with pytest.raises(HeapwrightError, match="are compressed"):
        Store(Folder.open(tmp_path / "b"))
    assert not (tmp_path / "b" / "runs.jsonl").exists()


def test_a_damaged_file_of_runs_is_named(tmp_path: Path) -> None:
    write_compact(filled(tmp_path / "a"), tmp_path / "b", ())
    file = tmp_path / "b" / "runs.jsonl.gz"
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(HeapwrightError, match=r"runs\.jsonl\.gz cannot be read"):
        open_results(tmp_path / "b").frame()
