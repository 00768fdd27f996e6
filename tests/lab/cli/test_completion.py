# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Completion: what the scripts of the shells ask `heapwright`, and what it answers."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from heapwright.cli.completion import VARIABLE, Shell
from heapwright.cli.verbs import VERBS

PRINTED = "from heapwright.__main__ import main; import sys; sys.argv[0] = 'heapwright'; main()"


def ask(variables: Mapping[str, str], *arguments: str) -> str:
    """What the process prints that a completion script starts."""
    done = subprocess.run(
        [sys.executable, "-c", PRINTED, *arguments],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout


def ask_bash(line: str) -> list[str]:
    words = line.split(" ")
    place = str(len(words) - 1)
    answer = ask({"COMP_WORDS": line, "COMP_CWORD": place, VARIABLE: "complete_bash"})
    return answer.split()


def test_bash_completes_verbs_options_and_names() -> None:
    assert ask_bash("heapwright comp") == ["compare", "compose"]
    assert ask_bash("heapwright trace ") == ["info", "check"]
    assert ask_bash("heapwright replay --pac") == ["--pace"]
    assert ask_bash("heapwright replay --pace ") == ["asap", "recorded"]
    assert ask_bash("heapwright compare --program per") == ["perl"]


def test_zsh_is_answered_with_names_and_their_help() -> None:
    variables = {VARIABLE: "complete_zsh", "_TYPER_COMPLETE_ARGS": "heapwright study show costa"}
    assert ask(variables).startswith('_arguments \'*: :(("costa-2014"')
    variables["_TYPER_COMPLETE_ARGS"] = "heapwright gat"
    gate = next(verb for verb in VERBS if verb.name == "gate")
    assert f'"gate":"{gate.help.partition(":")[0]}' in ask(variables)


def test_fish_is_answered_with_one_name_in_a_line() -> None:
    variables = {
        VARIABLE: "complete_fish",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        "_TYPER_COMPLETE_ARGS": "heapwright ",
    }
    answer = ask(variables)
    assert [line.partition("\t")[0] for line in answer.splitlines()] == [
        verb.name for verb in VERBS
    ]


@pytest.mark.parametrize("shell", Shell)
def test_the_script_does_not_depend_on_the_shell_of_the_user(shell: Shell) -> None:
    text = ask({"SHELL": "/usr/bin/unusual"}, "--completion", shell.value)
    assert f"{VARIABLE}=complete_{shell.value}" in text


def test_bash_completes_with_the_script(tmp_path: Path) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is not installed")
    program = tmp_path / "heapwright"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{PRINTED}" "$@"\n')
    program.chmod(0o755)
    code = (
        f'eval "$({program} --completion bash)"; COMP_WORDS=(heapwright expl); COMP_CWORD=1; '
        f"_heapwright_completion {program}; echo ${{COMPREPLY[*]}}"
    )
    done = subprocess.run([bash, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("explain\n", "")
