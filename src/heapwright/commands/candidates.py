# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The candidates of a comparison: allocators, named commands, levels of parameters, crossed.

Named commands without `-a` and `--set` run unchanged, without a preload. Then any program can be
compared, also a statically linked one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from heapwright.base.errors import HeapwrightError
from heapwright.commands.setup import Selection, check, select
from heapwright.experiment.candidates import (
    AS_IT_IS,
    NamedCommand,
    crossed,
    notes_on_twins,
    notes_on_words,
    parse_commands,
    parse_parameters,
)
from heapwright.experiment.command_check import find_program
from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.treatments import Treatment

SYSTEM = "glibc"


@dataclass(frozen=True, slots=True)
class Request:
    """The options that name candidates."""

    allocators: tuple[str, ...]
    settings: tuple[str, ...]
    baseline: str
    words: tuple[str, ...] = ()
    """The one command after `--`, or that of a program."""
    commands: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    cwd: Path = Path()
    shell: bool = False
    one_is_enough: bool = False
    """Exact counts and checks are a result of one candidate."""


def choose(request: Request, environment: Mapping[str, str], paths: PreloadPaths) -> Selection:
    """The candidates, checked, the baseline first. Raises HeapwrightError."""
    named = _baseline_first(parse_commands(request.commands), request.baseline)
    parameters = parse_parameters(request.parameters)
    commands = named or [NamedCommand("", request.words)]
    alone = bool(named) and not request.allocators and not request.settings
    warnings = _checked(request, crossed([AS_IT_IS], commands, parameters), environment, alone)
    selection = _commands_alone(named) if alone else _allocators(request, named, environment, paths)
    if named or parameters:
        treatments = tuple(crossed(selection.treatments, commands, parameters))
        selection = replace(selection, treatments=treatments)
    programs = _programs(named, request.cwd, environment)
    twins = notes_on_twins(named, programs, selection.allocators)
    notes = (*selection.notes, *warnings, *notes_on_words(named), *twins)
    return replace(selection, notes=notes)


def _commands_alone(named: Sequence[NamedCommand]) -> Selection:
    if len(named) < 2:
        raise HeapwrightError(
            f"only the command {named[0].name} is given: there is nothing to compare it with",
            "give another --command, or allocators with -a",
        )
    return Selection((), (AS_IT_IS,), ())


def _allocators(
    request: Request,
    named: Sequence[NamedCommand],
    environment: Mapping[str, str],
    paths: PreloadPaths,
) -> Selection:
    names = request.allocators or ((SYSTEM,) if named else ())
    is_command = request.baseline in {each.name for each in named}
    return select(
        names,
        request.settings,
        SYSTEM if is_command else request.baseline,
        environment,
        paths,
        fewest=1 if request.one_is_enough or len(named) > 1 else 2,
    )


def _baseline_first(named: list[NamedCommand], baseline: str) -> list[NamedCommand]:
    return sorted(named, key=lambda each: each.name != baseline)


def _checked(
    request: Request, runs: Sequence[Treatment], environment: Mapping[str, str], alone: bool
) -> list[str]:
    """Look up each program. Refuse one that no preload reaches, unless commands run `alone`."""
    warnings: list[str] = []
    for words in {each.command[:1]: each.command for each in runs}.values():
        if alone:
            find_program(words, cwd=request.cwd, environment=environment)
        else:
            warnings += check(words, request.cwd, environment, shell=request.shell)
    return list(dict.fromkeys(warnings))


def _programs(
    named: Sequence[NamedCommand], cwd: Path, environment: Mapping[str, str]
) -> dict[str, Path]:
    """The file of each command. A command with a parameter in its name has several files and is
    left out."""
    return {
        each.name: Path(each.words[0])
        if "{" in each.words[0]
        else find_program(each.words, cwd=cwd, environment=environment)
        for each in named
    }
