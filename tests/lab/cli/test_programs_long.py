# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright programs run --hours`, `explain` on what it wrote; allocators that programs bring."""

import html
import json
from pathlib import Path

import pytest

from heapwright.artefacts.long_run.document import read_long_run
from heapwright.artefacts.run.journal import Journal
from heapwright.base.errors import ExitCode

from .tools import Heapwright

pytestmark = pytest.mark.usefixtures("native")
SMALL = ("--scale", "small", "-p", "times=2")
LONG = ("programs", "run", "reference", *SMALL, "--hours", "0.001")
OWN = """format = 1
name = "own"
title = "Brings an allocator"
command = ["true"]
own_allocator = "its own"
"""


def test_a_long_run_is_printed_stored_drawn_and_explained(
    heapwright: Heapwright, tmp_path: Path
) -> None:
    done = heapwright(*LONG, "-o", "long.json", "--html", "long.html")
    assert done.status == ExitCode.OK, done.err
    assert "reference under glibc; the same load all the time: ok" in done.out
    assert "resident" in done.out
    assert "raw runs and analysis: long.json" in done.err
    run = read_long_run(tmp_path / "long.json")
    assert run.whole
    assert run.live_source == "mallinfo2"
    assert {each.series for each in run.growths} == {"resident", "live", "held"}
    assert len(run.rounds) >= 1
    assert "<h1>Does its memory grow?</h1>" in (tmp_path / "long.html").read_text()
    assert list((tmp_path / "state" / "heapwright").iterdir()) == []
    explained = heapwright("explain", tmp_path / "long.json", "--json", "why.json")
    assert explained.status == ExitCode.OK, explained.err
    why = json.loads((tmp_path / "why.json").read_text())
    assert len(why["moments"]) == len(run.samples)
    assert why["kind"] in ("steady", "growth", "retention")
    # The same picture says the same.
    assert why["sentence"] in done.out.replace("\n", " ")
    assert html.escape(why["sentence"]) in (tmp_path / "long.html").read_text()


def test_without_a_file_the_series_is_in_the_journal(
    heapwright: Heapwright, tmp_path: Path
) -> None:
    done = heapwright(*LONG)
    assert done.status == ExitCode.OK, done.err
    (journal,) = (tmp_path / "state" / "heapwright").iterdir()
    assert f"raw runs: {journal}" in done.err
    assert journal.name.startswith("long-")
    assert read_long_run(journal).whole
    # What a kill would have left: no end, half a line.
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:-1])[:-20])
    explained = heapwright("explain", journal)
    assert explained.status == ExitCode.OK, explained.err
    assert "the journal has no end" in explained.err


def test_a_full_disk_ends_the_journal_and_not_the_run(
    heapwright: Heapwright, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Journal, text: str) -> None:
        del text
        self.failure = "No space left on device"

    monkeypatch.setattr(Journal, "append_line", full)
    done = heapwright(*LONG, "-o", "long.json")
    assert done.status == ExitCode.OK, done.err
    assert "the journal of raw runs is not complete: No space left on device" in done.err
    assert read_long_run(tmp_path / "long.json").samples


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--vary", "times"), "cannot read the load 'times'"),
        (("--vary", "times=1"), "cannot read the load"),
        (("--vary", "lines=1,2"), "does not depend on 'lines'"),
        (("--json",), "--json is of a single run"),
        (("-o", "nowhere/long.json"), "cannot be written"),
    ],
)
def test_refused_requests(heapwright: Heapwright, more: tuple[str, ...], words: str) -> None:
    done = heapwright(*LONG, *more)
    assert done.status == ExitCode.BAD_INPUT
    assert words in done.err.replace("\n", " ")


def test_options_of_a_long_run_want_one(heapwright: Heapwright) -> None:
    done = heapwright("programs", "run", "reference", *SMALL, "--rest", "1")
    assert done.status == ExitCode.BAD_INPUT
    assert "--rest is of a long run" in done.err


def test_a_command_is_no_server(heapwright: Heapwright) -> None:
    done = heapwright("programs", "run", "xz", "--scale", "small", "--hours", "1")
    assert done.status == ExitCode.BAD_INPUT
    assert "xz is no server" in done.err


def test_a_command_with_its_own_allocator_runs_unchanged(
    heapwright: Heapwright, tmp_path: Path
) -> None:
    path = tmp_path / "own.toml"
    path.write_text(OWN)
    done = heapwright("programs", "run", path)
    assert done.status == ExitCode.OK, done.err
    assert "own under its own: ok" in done.out
    for verb in (
        ("programs", "run", path, "-a", "hoard"),
        ("compare", "--program", path, "-n", "1"),
    ):
        refused = heapwright(*verb)
        assert refused.status == ExitCode.BAD_INPUT
        assert "own brings an allocator of its own, its own, which no preload replaces" in (
            refused.err.replace("\n", " ")
        )
