# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright profile` and `export` with the heap profiles of other tools."""

import json
from pathlib import Path

import pytest

from heapwright.artefacts.stacks.read import read_stacks
from heapwright.base.errors import ExitCode
from support.tool_files import FILES, MASSIF

from .tools import Heapwright

FORMATS = ("pprof", "folded", "speedscope", "dhat", "perfetto")


@pytest.mark.parametrize("tool", FILES)
def test_a_file_is_shown(tool: str, heapwright: Heapwright, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(FILES[tool])
    done = heapwright("profile", "--html", "page.html", "file")
    assert done.status == 0, done.err
    found = read_stacks(tmp_path / "file")
    assert f"{found.total(found.main):,} " in done.out
    assert (tmp_path / "page.html").read_text("utf-8").startswith("<!DOCTYPE html>")
    assert "the page is" in done.err


@pytest.mark.parametrize("tool", FILES)
@pytest.mark.parametrize("name", FORMATS)
def test_a_file_is_exported(tool: str, name: str, heapwright: Heapwright, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(FILES[tool])
    done = heapwright("export", f"--{name}", "out", "file")
    if (tool, name) == ("massif", "dhat"):
        assert done.status == ExitCode.BAD_INPUT
        assert "does not count blocks" in done.err
        return
    assert done.status == 0, done.err
    assert (tmp_path / "out").stat().st_size > 0


def test_a_refused_format_leaves_no_other_file(heapwright: Heapwright, tmp_path: Path) -> None:
    (tmp_path / "file").write_text(MASSIF)
    done = heapwright("export", "--pprof", "a", "--dhat", "b", "--speedscope", "c", "file")
    assert done.status == ExitCode.BAD_INPUT
    assert [path.name for path in tmp_path.glob("?")] == []


def test_an_export_to_pprof_is_read_back(heapwright: Heapwright, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(FILES["heaptrack"])
    assert heapwright("export", "--pprof", "out", "file").status == 0
    before, after = read_stacks(tmp_path / "file"), read_stacks(tmp_path / "out")
    assert before.known == after.known
    assert all(before.total(amount) == after.total(amount) for amount in before.known)


def test_folded_stacks_have_what_the_file_has(heapwright: Heapwright, tmp_path: Path) -> None:
    (tmp_path / "file").write_text(MASSIF)
    done = heapwright("export", "--folded", "-", "file")
    assert done.out.splitlines() == [
        "main;grab 600",
        "libz.so.1;grab 300",
        "callers below massif's threshold 100",
    ]
    refused = heapwright("export", "--folded", "-", "--measure", "calls", "file")
    assert refused.status == ExitCode.BAD_INPUT
    assert "does not have the measure calls" in refused.err
    assert "one of: peak" in refused.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("profile", "--json", "x", "file"), "lacks most figures"),
        (("profile", "--compare", "file", "file"), "--compare needs traces"),
        (("profile", "--process", "0", "file"), "has one process"),
        (("profile", "--at", "peak", "file"), "its moments cannot be chosen"),
        (("export", "--pprof", "x", "--process", "0", "file"), "has one process"),
        (("export", "--parquet", "x", "file"), "no single calls"),
        (("import", "file", "-o", "x"), "heapwright profile file shows it"),
        (("export", "--pprof", "file", "file"), "what is to be read"),
    ],
)
def test_what_a_file_cannot_give_is_refused(
    arguments: tuple[str, ...], words: str, heapwright: Heapwright, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text(MASSIF)
    done = heapwright(*arguments)
    assert done.status == ExitCode.BAD_INPUT
    assert words in done.err
    assert not (tmp_path / "x").exists()


def test_a_damaged_file_is_refused_with_its_place(heapwright: Heapwright, tmp_path: Path) -> None:
    (tmp_path / "file").write_text(MASSIF.replace("n2: 900", "n9: 900"))
    done = heapwright("profile", "file")
    assert done.status == ExitCode.BAD_INPUT
    assert "file is damaged: line 24" in done.err
    assert "Traceback" not in done.err


def test_a_file_of_speedscope_is_json(heapwright: Heapwright, tmp_path: Path) -> None:
    (tmp_path / "file").write_text(MASSIF)
    done = heapwright("export", "--speedscope", "-", "file")
    assert json.loads(done.out)["name"] == "./program -v"
