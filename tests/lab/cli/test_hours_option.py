# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`--hours` of `profile` and `explain`: a long run of a command or a program, reported in their
form.
"""

import html
import json
from pathlib import Path

import pytest

from heapwright.artefacts.long_run.document import Direction, read_long_run
from heapwright.artefacts.run.measured import Outcome
from heapwright.base.errors import ExitCode

from .tools import Heapwright, compile_c

pytestmark = pytest.mark.usefixtures("native")
LEAKING = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv) {
    FILE *here = fopen("was-here", "w");
    fputs(getenv("HOME"), here);
    for (int i = 1; i < argc; ++i) fprintf(here, "\\n%s", argv[i]);
    fclose(here);
    for (int i = 0;; ++i) {
        char *block = malloc(20000);
        memset(block, 1, 20000);
        if (i % 4) free(block);
        usleep(2000);
    }
}
"""
"""Says where it is and with what, and loses every fourth block."""
SHORT = ("--hours", "0.003")
REFERENCE = ("--program", "reference", "--scale", "small", "-p", "times=2", "--hours", "0.001")


@pytest.fixture(scope="module")
def leaking(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_c(tmp_path_factory.mktemp("leaking") / "leaking", LEAKING)


def test_a_command_that_leaks_is_seen_to_grow(
    heapwright: Heapwright, leaking: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "mine"))
    written = ("--json", "long.json", "--html", "long.html")
    done = heapwright("profile", *SHORT, *written, "--", leaking, "a b", "{c}")
    assert done.status == ExitCode.OK, done.err
    assert "command under glibc; as it works by itself: ok" in done.out
    assert "of the client" not in done.out
    assert "Growth: the program keeps more and more" in done.out
    run = read_long_run(tmp_path / "long.json")
    assert run.plan.command == (str(leaking), "a b", "{c}")
    grown = {each.series: each.direction for each in run.growths}
    assert grown["live"] is Direction.GROWS
    assert grown["resident"] is Direction.GROWS
    assert run.rounds == ()
    # It was run where it was called, with the home that it was called with.
    assert (tmp_path / "was-here").read_text().split("\n") == [str(tmp_path / "mine"), "a b", "{c}"]
    page = (tmp_path / "long.html").read_text()
    assert "<h1>Does its memory grow?</h1>" in page
    # The document alone says and draws the same again.
    again = heapwright("profile", "long.json", "--html", "again.html")
    assert again.status == ExitCode.OK, again.err
    assert again.out == done.out
    assert (tmp_path / "again.html").read_text() == page


def test_explain_says_the_same_of_a_command(
    heapwright: Heapwright, leaking: Path, tmp_path: Path
) -> None:
    done = heapwright("explain", *SHORT, "--json", "why.json", "--", leaking)
    assert done.status == ExitCode.OK, done.err
    why = json.loads((tmp_path / "why.json").read_text())
    assert why["kind"] == "growth"
    assert why["sentence"] in done.out.replace("\n", " ")
    # The series are not in what explain writes: they stay where they were kept.
    (journal,) = (tmp_path / "state" / "heapwright").iterdir()
    assert f"raw runs: {journal}" in done.err
    assert 0 <= len(read_long_run(journal).samples) - len(why["moments"]) <= 1  # the very first


def test_it_is_run_under_the_allocator_that_is_named(
    heapwright: Heapwright, leaking: Path, tmp_path: Path
) -> None:
    done = heapwright("profile", *SHORT, "-a", "lea", "--json", "long.json", "--", leaking)
    assert done.status == ExitCode.OK, done.err
    assert read_long_run(tmp_path / "long.json").plan.allocator == "lea"
    assert "command under lea; as it works by itself: ok" in done.out
    done = heapwright("explain", *SHORT, "-a", "lea", "-q", "--", leaking)
    assert done.status == ExitCode.OK, done.err
    assert done.out.startswith("Growth")


@pytest.mark.parametrize("verb", ["profile", "explain"])
def test_a_program_is_run_as_its_file_says(
    verb: str, heapwright: Heapwright, tmp_path: Path
) -> None:
    done = heapwright(verb, *REFERENCE)
    assert done.status == ExitCode.OK, done.err
    (journal,) = (tmp_path / "state" / "heapwright").iterdir()
    run = read_long_run(journal)
    assert run.plan.program.name == "reference"
    assert len(run.rounds) >= 1
    if verb == "profile":
        assert "reference under glibc; the same load all the time: ok" in done.out
        drawn = heapwright("profile", journal, "--html", "long.html", "--json", "long.json")
        assert drawn.status == ExitCode.OK, drawn.err
        assert html.escape("reference under glibc") in (tmp_path / "long.html").read_text()
        assert read_long_run(tmp_path / "long.json") == run
        assert journal.exists(), "reading removes nothing"


@pytest.mark.parametrize("verb", ["profile", "explain"])
def test_a_command_that_ends_by_itself_has_no_hours(
    verb: str, heapwright: Heapwright, tmp_path: Path
) -> None:
    done = heapwright(verb, "--hours", "0.01", "--", "sh", "-c", "echo last words >&2; sleep 2")
    assert done.status == ExitCode.NOTHING_COMPARED
    assert "ended while it was needed: exit status 0" in done.out + done.err
    assert "last words" in done.out + done.err
    assert "without --hours, `heapwright profile` has its memory" in done.out + done.err
    (journal,) = (tmp_path / "state" / "heapwright").iterdir()
    assert read_long_run(journal).outcome is Outcome.FAILED


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("profile", *SHORT, "--stacks", "--", "true"), "--stacks belongs to a recording"),
        (("profile", *SHORT, "-n", "2", "--", "true"), "-n belongs to a recording"),
        (("profile", *SHORT, "T"), "a trace belongs to a recording"),
        (("profile", *SHORT), "one trace is profiled, or a command"),
        (("profile", *SHORT, "--rest", "1", "--", "true"), "--rest and --vary change the load"),
        (("profile", "--rest", "1", "--", "true"), "--rest is of a long run"),
        (("profile", *SHORT, "--", "/no/such"), "command not found"),
        (("profile", *SHORT, "--program", "xz", "--scale", "small"), "xz is no server"),
        (("explain", *SHORT, "-o", "T", "--", "true"), "-o belongs to a recording"),
        (("explain", *SHORT, "T"), "--hours needs a command after --"),
        (("profile", "-a", "lea", "--", "true"), "-a is of a long run"),
        (("explain", "--vary", "a=1,2", "--", "true"), "--vary is of a long run"),
    ],
)
def test_options_that_exclude_each_other(
    words: tuple[str, ...], said: str, heapwright: Heapwright, tmp_path: Path
) -> None:
    done = heapwright(*words)
    assert done.status == ExitCode.BAD_INPUT
    assert said in done.err.replace("\n", " ")
    assert not (tmp_path / "state").exists()
