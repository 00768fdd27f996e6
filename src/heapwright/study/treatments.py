# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""From a combination of levels to a treatment: every template filled in.

Paths in `trace`, `stdin`, `cwd` and of allocators are relative to the folder of the study file. A
variable of the environment is the study's, unless a level sets it; of two levels the later factor's
holds. A prefix is the study's, filled in and split into words, then those of the levels.
"""

import shlex
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from heapwright.artefacts.study.factor import Level, scalar_text
from heapwright.artefacts.study.file import StudyFile
from heapwright.artefacts.study.installation import lacking, places_here
from heapwright.artefacts.study.template import OF_RUN, TemplateError, fill
from heapwright.artefacts.study.treatment import StudyTreatment, Value, treatment_id
from heapwright.artefacts.workload.library import workload_path
from heapwright.base.errors import HeapwrightError
from heapwright.base.problems import Keys

SYNTH = "synth:"

Programs = Callable[[str], str]


def installed(name: str) -> str:
    """The program of a workload of this installation."""
    return str(workload_path(name))


class Filler:
    """Fills in the templates of one study."""

    def __init__(self, file: StudyFile, programs: Programs = installed) -> None:
        self._file = file
        self._study = file.study
        self._programs = cache(programs)
        self._folder = file.folder
        self._others = {**places_here(file.folder), **OF_RUN}

    def treatment(self, levels: Mapping[str, Level]) -> StudyTreatment:
        """Raises HeapwrightError where a workload is not there, or a prefix is no words."""
        names = {factor: level.name for factor, level in levels.items()}
        study = self._study
        chooser = levels.get(study.allocator_factor or "")
        confined = levels.get(study.cpus_factor or "")
        return StudyTreatment(
            id=treatment_id(names),
            levels=names,
            values={factor: _value(level) for factor, level in levels.items()},
            allocator=None if chooser is None else self.allocator(chooser),
            preload=chooser is None or chooser.preload,
            command=self._command(levels),
            trace=self._path(("trace",), study.trace, levels),
            program=self._program(levels),
            parameters=self._parameters(levels),
            prefix=self._prefix(levels),
            environment=self._environment(levels),
            cpus=None if confined is None or confined.number is None else int(confined.number),
            stdin=self._path(("stdin",), study.stdin, levels),
            cwd=self._path(("cwd",), study.cwd, levels),
        )

    def allocator(self, level: Level) -> str:
        """What a level of the allocators' factor names; a path is made whole."""
        name, separator, path = level.allocator.partition("=")
        if not separator or "/" in name:  # no name=path, but a path as it stands, or a name
            name, separator, path = "", "", level.allocator
        if "/" not in path:
            return level.allocator
        return f"{name}{separator}{self._folder / path}"

    def lacks(self, factor: str, level: Level) -> str:
        """Why the machine cannot give a level; empty if it has all that the level needs."""
        for need in level.needs:
            try:
                filled = fill(need, {factor: level}, programs=self._programs, others=self._others)
            except TemplateError as error:
                raise self._file.error(("factors", factor, "levels"), str(error)) from error
            except HeapwrightError as error:
                return error.message
            if why := lacking(filled, self._folder):
                return why
        return ""

    def _filled(self, keys: Keys, template: str, levels: Mapping[str, Level]) -> str:
        try:
            return fill(template, levels, programs=self._programs, others=self._others)
        except TemplateError as error:
            raise self._file.error(keys, str(error)) from error
        except HeapwrightError as error:
            raise self._file.error(keys, error.message, error.hint) from error

    def _command(self, levels: Mapping[str, Level]) -> tuple[str, ...]:
        study = self._study
        if study.workload is None:
            return self._words(("command",), study.command, levels)
        name = self._filled(("workload",), study.workload, levels)
        try:
            program = self._programs(name)
        except HeapwrightError as error:
            raise self._file.error(("workload",), error.message, error.hint) from error
        return program, *self._words(("arguments",), study.arguments, levels)

    def _program(self, levels: Mapping[str, Level]) -> str | None:
        """A name as it stands; a path is made whole."""
        if self._study.program is None:
            return None
        filled = self._filled(("program",), self._study.program, levels)
        is_path = "/" in filled or filled.endswith(".toml")
        return str(self._folder / filled) if is_path else filled

    def _parameters(self, levels: Mapping[str, Level]) -> dict[str, str]:
        return {
            name: self._filled(("parameters", name), value, levels)
            if isinstance(value, str)
            else scalar_text(value)
            for name, value in self._study.parameters.items()
        }

    def _words(
        self, keys: Keys, templates: tuple[str, ...], levels: Mapping[str, Level]
    ) -> tuple[str, ...]:
        return tuple(
            self._filled((*keys, place), each, levels) for place, each in enumerate(templates)
        )

    def _path(self, keys: Keys, template: str | None, levels: Mapping[str, Level]) -> str | None:
        """Made whole; unless it is synth:NAME, which is no path."""
        if template is None:
            return None
        filled = self._filled(keys, template, levels)
        return filled if filled.startswith(SYNTH) else str(self._folder / Path(filled))

    def _prefix(self, levels: Mapping[str, Level]) -> tuple[str, ...]:
        words: list[str] = []
        for place, text in enumerate(self._words(("prefix",), self._study.prefix, levels)):
            try:
                words += shlex.split(text)
            except ValueError as error:
                why = f"{text!r} cannot be split into words: {error}"
                raise self._file.error(("prefix", place), why) from error
        for factor, level in levels.items():
            words += self._words(("factors", factor, "levels"), level.prefix, levels)
        return tuple(words)

    def _environment(self, levels: Mapping[str, Level]) -> dict[str, str]:
        made = {
            name: self._filled(("environment", name), text, levels)
            for name, text in self._study.environment.items()
        }
        for factor, level in levels.items():
            for name, text in level.environment.items():
                keys = ("factors", factor, "levels")
                made[name] = self._filled(keys, text, levels)
        return made


def _value(level: Level) -> Value | dict[str, Value]:
    if not level.keys:
        return level.plain
    own: dict[str, Value] = {"name": level.name}
    if level.value is not None:
        own["value"] = level.value
    return own | level.keys
