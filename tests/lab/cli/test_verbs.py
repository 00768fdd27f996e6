# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The table of verbs agrees with the verbs, and help and version import little."""

import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
import typer
from typer.rich_utils import rich_format_help

from heapwright import __version__, commands
from heapwright.base.errors import ExitCode
from heapwright.cli.lazy_group import load
from heapwright.cli.main import app
from heapwright.cli.overview import print_overview
from heapwright.cli.verbs import VERBS, Verb

HEAVY = ("pydantic", "polars", "numpy", "scipy", "altair", "vl_convert", "heapwright.commands")


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_the_table_has_the_help_and_the_name_of_the_verb(verb: Verb) -> None:
    command = load(verb)
    first, _, _ = (command.help or "").partition("\n\n")
    assert (command.name, " ".join(first.split())) == (verb.name, verb.help)


def verbs_within(command: Any) -> Iterator[Any]:
    yield command
    for each in getattr(command, "commands", {}).values():
        yield from verbs_within(each)


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_every_whole_number_has_an_upper_bound(verb: Verb) -> None:
    unbounded = [
        f"{command.name} {parameter.opts[-1]}"
        for command in verbs_within(load(verb))
        for parameter in command.params
        if parameter.type_descriptor.annotation is int and parameter.max is None
    ]
    assert unbounded == []


def test_a_number_beyond_the_bound_is_refused(capfd: pytest.CaptureFixture[str]) -> None:
    words = ["compare", "-n", "9" * 20, "--", "true"]
    with pytest.raises(SystemExit) as left:
        typer.main.get_group(app).main(words, prog_name="heapwright")
    assert left.value.code == ExitCode.BAD_INPUT
    said = capfd.readouterr().err
    assert "'-n' / '--blocks'" in said
    assert "100000" in said


def test_every_module_of_the_commands_can_be_named() -> None:
    for name in commands.__all__:
        assert getattr(commands, name) is import_module(f"heapwright.commands.{name}")


def test_a_module_that_is_not_there_is_no_attribute() -> None:
    assert not hasattr(commands, "nothing")


@pytest.mark.parametrize("width", ["60", "80", "120"])
def test_the_overview_is_drawn_as_typer_draws_it(
    width: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", width)
    group = typer.main.get_group(app)
    context = group.make_context("heapwright", [], resilient_parsing=True)
    rich_format_help(obj=group, ctx=context, markup_mode="rich")
    expected = capsys.readouterr().out
    print_overview(group, context)
    assert capsys.readouterr().out == expected


def imported_by(*arguments: str) -> tuple[str, set[str]]:
    """What the command prints, and which modules it has imported then."""
    code = (
        "import atexit, sys\n"
        "atexit.register(lambda: print(*sys.modules, file=sys.stderr))\n"
        f"sys.argv = {['heapwright', *arguments]!r}\n"
        "from heapwright.__main__ import main\n"
        "main()\n"
    )
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return done.stdout, set(done.stderr.split())


def test_the_version_imports_no_command_line() -> None:
    printed, modules = imported_by("--version")
    assert printed == f"heapwright {__version__}\n"
    assert not modules & {"typer", "rich", *HEAVY}


def test_help_lists_every_verb_and_imports_none() -> None:
    printed, modules = imported_by("--help")
    assert [verb.name for verb in VERBS if f" {verb.name} " not in printed] == []
    assert not modules & {*HEAVY, *(verb.path for verb in VERBS)}
