# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""After a verb one line on standard error names the next useful command."""

from collections.abc import Callable
from pathlib import Path

import pytest

from heapwright.base.errors import ExitCode
from heapwright.cli.next_command import NEXT, next_command
from heapwright.cli.verbs import VERBS

from .tools import Heapwright

NAMING_IT_THEMSELVES = {"study", "report", "kernel", "look", "attach"}
BECOMING_ANOTHER_PROGRAM = {"run"}


def test_each_verb_has_a_next_command() -> None:
    without = NAMING_IT_THEMSELVES | BECOMING_ANOTHER_PROGRAM
    assert set(NEXT) | without == {verb.name for verb in VERBS}
    for name in NEXT:
        assert next_command([name]).startswith("next: heapwright ")


def test_the_next_command_is_of_the_same_program_and_file() -> None:
    assert "explain -- ./a 'b c' " in next_command(["profile", "--stacks", "--", "./a", "b c"])
    assert "explain T " in next_command(["record", "-o", "T", "--", "./a"])
    assert "explain a.trace " in next_command(["record", "--", "bin/a"])
    assert "report results -o " in next_command(["analyse", "results", "--json", "a.json"])
    assert "compare -a mine,glibc -- COMMAND" in next_command(["compose", "mine", "--type", "T"])


def test_the_next_command_is_of_the_trace_that_is_there(
    tmp_path: Path, trace_of_text: Callable[[Path, str], Path]
) -> None:
    trace = trace_of_text(tmp_path, "1: malloc 0x1000 48\n")
    for words in (["profile", trace], ["profile", "--html", "p.html", trace]):
        assert f"heapwright explain {trace} " in next_command(list(map(str, words)))
    for words in (["explain", trace], ["trace", "info", trace], ["import", "x", "-o", trace]):
        line = next_command(list(map(str, words)))
        assert line.startswith("next: heapwright profile ")
        assert f"{trace} " in line
    assert f"replay {trace} " in next_command(["synth", "p.json", "-o", str(trace)])
    assert "explain -- COMMAND " in next_command(["profile", "--compare", "a.json", "b.json"])


def test_the_next_command_is_of_the_one_thing_that_was_named() -> None:
    assert "compare --program redis " in next_command(["programs", "show", "redis"])
    assert "workloads path larson" in next_command(["workloads", "show", "larson"])
    assert "compare -a lea,glibc -- COMMAND" in next_command(["allocators", "show", "lea"])
    assert "explain --program redis " in next_command(["compare", "--program", "redis", "-n", "3"])
    assert "explain redis.trace " in next_command(["record", "--program=redis"])
    assert "attach" in next_command(["top", "--once", "4711"])
    assert "heapwright look " in next_command(["top", "--by-site", "4711"])
    assert "report t.json -o " in next_command(["taxonomy", "--json", "t.json"])


def test_the_next_command_is_of_what_was_done(
    tmp_path: Path, trace_of_text: Callable[[Path, str], Path]
) -> None:
    trace = trace_of_text(tmp_path, "1: malloc 0x1000 48\n")
    assert "heapwright allocators " in next_command(["compose", "mine", "--delete"])
    assert "explain -- ./a " in next_command(["explain", "--hours", "2", "--", "./a"])
    assert "explain --program redis " in next_command(
        ["explain", "--hours=2", "--program", "redis"]
    )
    for option in ("--check", "--curve=c.csv"):
        assert f"replay {trace} " in next_command(["replay", str(trace), option])
    assert "gate OLD.json NEW.json" in next_command(["history", "f", "--html", "h.html"])


def test_an_answer_with_a_status_has_a_next_command_and_an_error_has_none(tmp_path: Path) -> None:
    both = tmp_path / "both.json"
    both.touch()
    assert "old=OLD.so,new=NEW.so" in next_command(["gate", "a.json", "b.json"], 10)
    assert "profile --compare" in next_command(["gate", str(both), "--json", "g.json"], 10)
    assert next_command(["gate", str(both)], 12) == "", "the answer says what would decide"
    assert "history FOLDER" in next_command(["gate", "a.json", "b.json"], 0)
    assert "compare --exact -- COMMAND" in next_command(["doctor"], 10)
    assert "history f --html" in next_command(["history", "f"], 10)
    for status in (1, 2, 3, 130, "no"):
        assert next_command(["gate", "a.json", "b.json"], status) == ""


@pytest.mark.parametrize(
    "words",
    ["profile -q T", "profile --json - T", "profile T --json=-", "allocators --json", "export T -"],
)
def test_silent_commands_have_no_next_command(words: str) -> None:
    assert next_command(words.split()) == ""


def test_it_is_printed_after_success_alone(heapwright: Heapwright) -> None:
    done = heapwright("workloads")
    assert done.status == ExitCode.OK
    assert done.err.splitlines()[-1].startswith("next: heapwright workloads show NAME")
    assert "next:" not in done.out
    assert "next:" not in heapwright("workloads", "show", "no-such").err
    assert "next:" not in heapwright("--version").err
    assert "next:" not in heapwright("workloads", "--help").err
