# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Each verb's help starts with examples: the command line accepts all of them, and some are run."""

import re
import shlex
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path
from typing import Any

import pytest

from heapwright.cli.lazy_group import load
from heapwright.cli.verbs import VERBS

from .tools import Heapwright

WIDEST = 80
BY_NAME = {verb.name: verb for verb in VERBS}
LINE = re.compile(r"^  (heapwright .*)$", re.MULTILINE)
STORY = (
    "record -o T -- ls -R /usr/share/doc",
    "trace info T",
    "trace check T",
    "profile --html profile.html T",
    "explain --json why.json T",
    "export T --parquet events.parquet",
    "synth T -o T2 --threads 8",
    "workloads show larson",
    "workloads path larson",
    "allocators show lea",
    "study list",
    "study show costa-2014",
    "study check costa-2014 matias-2011-mysql",
    "programs list",
    "programs show perl",
    "doctor --quick --json machine.json",
)
"""The first is smaller than the example of `record`. The others are examples of the help."""


def examples_of(command: Any) -> list[str]:
    _, _, examples = cleandoc(command.help or "").partition("Examples:\n")
    return LINE.findall(examples)


def commands_of(command: Any, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield words, command
    for name, each in getattr(command, "commands", {}).items():
        yield from commands_of(each, (*words, name))


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_each_help_has_two_examples_of_its_verb(verb: Any) -> None:
    for words, command in commands_of(load(verb), ("heapwright", verb.name)):
        examples = examples_of(command)
        own = [each for each in examples if each.startswith(" ".join(words))]
        assert (len(examples) >= 2, len(own) >= 1) == (True, True), words
        assert [each for each in examples if len(each) > WIDEST] == []


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_the_command_line_accepts_each_example(verb: Any) -> None:
    for _, command in commands_of(load(verb), ("heapwright", verb.name)):
        for example in examples_of(command):
            _, name, *rest = shlex.split(example)
            named = load(BY_NAME[name])
            while rest and rest[0] in getattr(named, "commands", {}):
                name, *rest = rest
                named = named.commands[name]
            assert named.make_context(name, rest).params.keys() == {
                each.name for each in named.params
            }


def test_the_examples_that_are_run_are_examples_of_the_help() -> None:
    printed = {
        example
        for verb in VERBS
        for _, command in commands_of(load(verb), ("heapwright", verb.name))
        for example in examples_of(command)
    }
    assert [line for line in STORY[1:] if f"heapwright {line}" not in printed] == []


def test_examples_that_build_on_each_other_succeed(heapwright: Heapwright, native: Path) -> None:
    del native
    for line in STORY:
        done = heapwright(*shlex.split(line))
        allowed = {0, 10} if line.startswith("doctor") else {0}
        assert done.status in allowed, (line, done.err)
