# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""After a verb one line on standard error names the next useful command."""

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
