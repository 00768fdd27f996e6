# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Commands as candidates, and parameters in commands.

A named command is split into words as in a shell, but no shell runs it. A parameter replaces
`{NAME}` in these words after the split, so a value with a blank stays one word. Named commands and
the levels of all parameters are crossed with the treatments.
"""

import filecmp
import itertools
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from heapwright.artefacts.comparison.levels import joined, parameter_text
from heapwright.artefacts.run.provenance import Allocator, Kind
from heapwright.base.errors import HeapwrightError
from heapwright.base.paths import is_file
from heapwright.experiment.treatments import Treatment

NAME = re.compile(r"[^\s=,\[\]{}](?:[^=,\[\]{}]*[^\s=,\[\]{}])?")
PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
SHELL_WORDS = frozenset({"|", "||", "&", "&&", ";", "<", ">", ">>", "2>", "2>&1"})
MOST_TREATMENTS = 1000


@dataclass(frozen=True, slots=True)
class NamedCommand:
    """A command and what the user calls it; "" for the one command after `--`."""

    name: str
    words: tuple[str, ...]


AS_IT_IS = Treatment(Allocator(name="", kind=Kind.SYSTEM), proven=False)
"""A command without a preload, so no proof is needed."""


def parse_commands(texts: Iterable[str]) -> list[NamedCommand]:
    """Read the values of `--command`: NAME=COMMAND. Raises HeapwrightError."""
    commands = [_named(text) for text in texts]
    names = [each.name for each in commands]
    for name in names:
        if names.count(name) > 1:
            raise HeapwrightError(
                f"two commands are called {name!r}", "give each --command a name of its own"
            )
    return commands


def _named(text: str) -> NamedCommand:
    name, separator, command = text.partition("=")
    if not separator or not NAME.fullmatch(name):
        raise HeapwrightError(
            f"cannot read --command {text!r}",
            "write NAME=COMMAND, as in --command old='./a in'; no comma, bracket or brace in NAME",
        )
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise HeapwrightError(
            f"--command {name}: {command!r} cannot be split into words: {error}",
            "close each quotation mark, as in a shell",
        ) from error
    if not words or not words[0]:
        raise HeapwrightError(f"--command {name} has no command", f"write {name}='./program in'")
    return NamedCommand(name, tuple(words))


def parse_parameters(texts: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Read the values of `--parameter`: NAME=VALUE,VALUE. Raises HeapwrightError."""
    parameters: dict[str, tuple[str, ...]] = {}
    for text in texts:
        name, _, listed = text.partition("=")
        values = tuple(value.strip() for value in listed.split(","))
        if not PARAMETER.fullmatch(name) or not all(values):
            raise HeapwrightError(
                f"cannot read --parameter {text!r}",
                "write NAME=VALUE,VALUE, as in --parameter threads=1,2,4",
            )
        if name in parameters:
            raise HeapwrightError(
                f"--parameter {name} is given twice", f"write all values in one: {name}=1,2,4"
            )
        if len(set(values)) < len(values):
            raise HeapwrightError(f"--parameter {name} has the same value twice: {listed}")
        parameters[name] = values
    return parameters


def crossed(
    treatments: Sequence[Treatment],
    commands: Sequence[NamedCommand],
    parameters: Mapping[str, Sequence[str]],
) -> list[Treatment]:
    """Each treatment with each command, at each level of the parameters; level by level.

    The first treatment with the first command is the baseline of each level. Raises
    HeapwrightError if a command does not have a parameter, or for too many treatments.
    """
    _refuse_unused(commands, parameters)
    levels = [
        dict(zip(parameters, values, strict=True))
        for values in itertools.product(*parameters.values())
    ]
    number = len(levels) * len(treatments) * len(commands)
    if number > MOST_TREATMENTS:
        raise HeapwrightError(
            f"{number} candidates are too many: {MOST_TREATMENTS} at most",
            "give fewer values with --parameter, or fewer allocators with -a",
        )
    return [
        replace(
            treatment,
            level=joined(command.name, treatment.level, parameter_text(level)),
            command=tuple(_filled(word, level) for word in command.words),
            levels=level,
        )
        for level in levels
        for treatment in treatments
        for command in commands
    ]


def _refuse_unused(
    commands: Sequence[NamedCommand], parameters: Mapping[str, Sequence[str]]
) -> None:
    for name in parameters:
        if not any(f"{{{name}}}" in word for command in commands for word in command.words):
            raise HeapwrightError(
                f"no command has {{{name}}}, so --parameter {name} changes nothing",
                f"write {{{name}}} where its value belongs, as in ./program --threads {{threads}}",
            )


def _filled(word: str, level: Mapping[str, str]) -> str:
    """A word with the values of the level; other braces are the command's own."""
    names = "|".join(map(re.escape, level))
    return re.sub(rf"\{{({names})\}}", lambda found: level[found[1]], word) if names else word


def notes_on_words(commands: Iterable[NamedCommand]) -> list[str]:
    """A warning about shell syntax, because no shell runs the command."""
    notes = []
    for command in commands:
        if signs := [word for word in command.words if word in SHELL_WORDS]:
            notes.append(
                f"{command.name}: {signs[0]} goes to the program as a word; to have a shell read "
                f"it, write {command.name}={shlex.quote('sh -c ...')}"
            )
    return notes


def notes_on_twins(
    commands: Sequence[NamedCommand], programs: Mapping[str, Path], allocators: Sequence[Allocator]
) -> list[str]:
    """Two names for one thing: two commands that are the same, two allocators of one library, or
    files of equal content.

    `programs` has the file of each command, by its name.
    """
    notes = []
    for one, other in itertools.combinations(commands, 2):
        own, others = programs[one.name], programs[other.name]
        if one.words[1:] == other.words[1:] and _same_content(own, others):
            equal = (
                f"are the same command ({shlex.join(one.words)})"
                if _same_file(own, others)
                else f"run files of equal content ({own} and {others}) with the same arguments"
            )
            notes.append(
                f"{one.name} and {other.name} {equal}: "
                "a difference between them is noise; leave one out, unless you test for noise"
            )
    libraries = [each for each in allocators if each.path]
    for first, second in itertools.combinations(libraries, 2):
        own, others = Path(first.path or ""), Path(second.path or "")
        if first.environment == second.environment and _same_content(own, others):
            equal = (
                f"the same library ({own})"
                if _same_file(own, others)
                else f"libraries of equal content ({own} and {others})"
            )
            notes.append(f"{first.name} and {second.name} are {equal}: leave one out of -a")
    return notes


def _same_file(one: Path, other: Path) -> bool:
    """Whether two paths lead to one file."""
    return one == other or one.resolve() == other.resolve()


def _same_content(one: Path, other: Path) -> bool:
    """Whether two paths lead to one file, or to files of equal content."""
    if _same_file(one, other):
        return True
    return is_file(one) and is_file(other) and filecmp.cmp(one, other, shallow=False)
