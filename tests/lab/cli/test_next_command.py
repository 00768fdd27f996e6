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

NAMING_IT_THEMSELVES = {"study", "report", "kernel"}


def test_each_verb_has_a_next_command() -> None:
    assert set(NEXT) | NAMING_IT_THEMSELVES == {verb.name for verb in VERBS}
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
    assert "report t.json -o " in next_command(["taxonomy", "--json", "t.json"])


@pytest.mark.parametrize(
    "words",
    ["profile -q T", "profile --json - T", "profile T --json=-", "allocators --json", "export T -"],
)
def test_silent_and_printed_documents_have_none(words: str) -> None:
    assert next_command(words.split()) == ""


def test_it_is_printed_after_success_alone(heapwright: Heapwright) -> None:
    done = heapwright("workloads")
    assert done.status == ExitCode.OK
    assert done.err.splitlines()[-1].startswith("next: heapwright workloads show NAME")
    assert "next:" not in done.out
    assert "next:" not in heapwright("workloads", "show", "no-such").err
    assert "next:" not in heapwright("--version").err
    assert "next:" not in heapwright("workloads", "--help").err
