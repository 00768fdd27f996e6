# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright profile` from its options to its files."""

from pathlib import Path

import pytest

from heapwright.artefacts.profile.document import Profile
from heapwright.base.errors import HeapwrightError
from heapwright.base.native import library, program

from .tools import Heapwright


@pytest.fixture(autouse=True)
def recorder() -> None:
    try:
        library("recorder")
        program("record")
        program("profile")
    except HeapwrightError as error:
        pytest.skip(f"{error.message}: {error.hint}")


def read(path: Path) -> Profile:
    return Profile.from_json(path.read_bytes())


def test_a_command_is_recorded_and_summarised(
    heapwright: Heapwright, worker: Path, tmp_path: Path
) -> None:
    options = ("--json", "p.json", "--html", "p.html", "-o", "kept.trace")
    done = heapwright("profile", *options, "--", worker, "3000")
    assert done.status == 0, done.err
    assert "3,001 allocations" in done.out
    profile = read(tmp_path / "p.json")
    assert (profile.totals.allocations, profile.totals.frees) == (3001, 3001)
    assert profile.totals.bytes == 3000 * 100 + 3000 * 8
    assert profile.peak_live_bytes == profile.totals.bytes
    assert profile.totals.never_freed == 0
    assert profile.provenance.command == (str(worker), "3000")
    assert (tmp_path / "p.html").read_text("utf-8").startswith("<!DOCTYPE html>")
    assert f"the page is {tmp_path / 'p.html'}" in done.err

    again = heapwright("profile", "kept.trace", "--json", "again.json", "-q")
    assert again.status == 0, again.err
    assert len(again.out.splitlines()) == 1
    assert read(tmp_path / "again.json").totals == profile.totals


def test_repetitions_have_a_spread(heapwright: Heapwright, worker: Path, tmp_path: Path) -> None:
    done = heapwright("profile", "-n", "3", "--json", "p.json", "--", worker, "10")
    assert done.status == 0, done.err
    profile = read(tmp_path / "p.json")
    assert (profile.repetitions, profile.provenance.trace) == (3, "")
    spread = {each.figure: each for each in profile.spread}
    assert (spread["totals.allocations"].mean, spread["totals.allocations"].sd) == (11, 0)


def test_two_are_compared(heapwright: Heapwright, worker: Path, tmp_path: Path) -> None:
    for count in ("100", "200"):
        heapwright("profile", "--json", f"{count}.json", "-q", "--", worker, count)
    done = heapwright("profile", "--compare", "100.json", "200.json", "--html", "c.html")
    assert done.status == 0, done.err
    assert "101" in done.out
    assert "201" in done.out
    assert (tmp_path / "c.html").read_text("utf-8").startswith("<!DOCTYPE html>")


def test_a_failing_command_is_profiled_and_reported(heapwright: Heapwright) -> None:
    done = heapwright("profile", "-q", "--", "sh", "-c", "exit 3")
    assert done.status == 0
    assert "status 3" in done.err


def test_json_on_standard_output_stands_alone(heapwright: Heapwright) -> None:
    heapwright("profile", "-q", "-o", "t", "--", "true")
    done = heapwright("profile", "t", "--json", "-")
    Profile.from_json(done.out)
    assert "allocations" in done.err


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ((), "one trace is profiled"),
        (("a", "b"), "one trace is profiled"),
        (("a", "--", "true"), "either a trace"),
        (("--compare", "a"), "two files"),
        (("--compare", "a", "b", "--json", "c"), "no JSON"),
        (("-n", "3", "a"), "-n is for recording"),
        (("--stacks", "a"), "--stacks is for recording"),
        (("--",), "no command after --"),
        (("--json", "x", "--html", "x", "a"), "same place"),
        (("--json", "missing/x", "--", "true"), "cannot be written"),
        (("--", "./no-such-program"), "no-such-program"),
    ],
)
def test_options_that_exclude_each_other_are_refused(
    words: tuple[str, ...], complaint: str, heapwright: Heapwright
) -> None:
    done = heapwright("profile", *words)
    assert done.status == 2
    assert complaint in done.err
    assert not done.out
