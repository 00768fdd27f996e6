# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Reads a program file. An error names the file, the line and the key.

A file names parts, files of the folder parts/ beside it, which are merged under it. Tables are
merged. Everything else in the file replaces the value of a part. `[scale.NAME]` is merged over
that, then the parameters that the user changes. The hash of a program is that of all texts it is
made of.
"""

import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from heapwright.artefacts.program.checks import check_program
from heapwright.artefacts.program.model import FORMAT, Program
from heapwright.artefacts.study.factor import Scalar
from heapwright.base.errors import HeapwrightError
from heapwright.base.problems import Keys, Problem, unknown_name
from heapwright.base.toml_lines import TomlLines
from heapwright.base.validation import problems_of

LARGEST = 1 << 20
MOST_TOLD = 20
PARTS = "parts"
SUFFIX = ".toml"
FIXED_AT_A_SCALE = ("scale", "format", "name", "parts")


class ProgramError(HeapwrightError):
    """Something in a program file is wrong."""


@dataclass(frozen=True, slots=True)
class Text:
    """One of the texts of which a program is made."""

    where: str
    text: str
    document: Mapping[str, Any]

    def line_of(self, keys: Keys, scale: str | None) -> tuple[int, int]:
        """How much of the path is in this text, and the line of it."""
        lines = TomlLines(self.text)
        found = lines.found(keys)
        if scale is not None:
            deeper, line = lines.found(("scale", scale, *keys))
            if deeper - 2 >= max(found[0], 1):
                return deeper - 2, line
        return found


@dataclass(frozen=True, slots=True)
class ProgramFile:
    """A program as it was read, at one scale and with the user's parameters."""

    program: Program
    where: str
    """Its path, as the user wrote it."""
    folder: Path
    """What `{folder}` stands for."""
    scale: str | None
    sha256: str


def read_program(
    path: Path | str, scale: str | None = None, parameters: Mapping[str, str] | None = None
) -> ProgramFile:
    """Read the program file at `path`; `parameters` are texts, as -p has them.

    Raises HeapwrightError.
    """
    file = Path(path)
    folder = file.absolute().parent
    own = _text_of(file, str(path))
    texts = [_text_of(folder / PARTS / f"{part}{SUFFIX}", None) for part in _parts(own)]
    texts.append(own)
    merged: dict[str, Any] = {}
    for text in texts:
        merged = _merged(merged, text.document)
    whole = _checked(merged, texts, None)
    program = whole
    if scale is not None or parameters:
        document = merged if scale is None else _at_scale(merged, scale, texts)
        changed = _parameters(document, parameters or {}, own.where)
        program = _checked(changed, texts, scale)
    digest = hashlib.sha256("\0".join(text.text for text in texts).encode()).hexdigest()
    return ProgramFile(program, str(path), folder, scale, digest)


def _text_of(file: Path, where: str | None) -> Text:
    name = str(file) if where is None else where
    try:
        if file.stat().st_size > LARGEST:
            raise HeapwrightError(f"{name} is too large for a program file")
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise HeapwrightError(
            f"the program {name} cannot be read: {error.strerror or error}",
            "`heapwright programs list` names the programs that come with it",
        ) from error
    except UnicodeDecodeError as error:
        raise HeapwrightError(f"{name} is no text in UTF-8, and so no program file") from error
    try:
        return Text(name, text, tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise ProgramError(f"{name}: this is not TOML: {error}") from error
    except RecursionError as error:
        raise ProgramError(f"{name} nests too deeply for a program file") from error


def _parts(own: Text) -> list[str]:
    """The parts that a file names, as far as it names any rightly; and its format, before all."""
    number = own.document.get("format")
    if isinstance(number, int) and not isinstance(number, bool) and number != FORMAT:
        why = "a newer heapwright reads it" if number > FORMAT else "there is no such format"
        text = f"format {number}; this heapwright reads format {FORMAT}"
        raise _error([own], None, [Problem(("format",), text, why)])
    parts = own.document.get(PARTS, [])
    if not isinstance(parts, list):
        return []
    for place, part in enumerate(parts):
        if not isinstance(part, str) or "/" in part or not part:
            problem = Problem(
                (PARTS, place), "a part is the name of a file in parts/, without .toml"
            )
            raise _error([own], None, [problem])
    return list(parts)


def _checked(document: Mapping[str, Any], texts: Sequence[Text], scale: str | None) -> Program:
    try:
        program = Program.model_validate(document)
    except ValidationError as error:
        raise _error(texts, scale, problems_of(error, document, Program)) from None
    problems = list(check_program(program))
    if problems:
        raise _error(texts, scale, problems)
    return program


def _at_scale(document: Mapping[str, Any], scale: str, texts: Sequence[Text]) -> dict[str, Any]:
    scales: Mapping[str, Mapping[str, Any]] = document.get("scale", {})
    where = texts[-1].where
    if scale not in scales:
        problem = unknown_name((), f"the program has no scale {scale!r}", scale, scales)
        raise HeapwrightError(f"{where}: {problem.text}", problem.hint)
    for key in FIXED_AT_A_SCALE:
        if key in scales[scale]:
            problem = Problem(("scale", scale, key), f"{key} is the same at every scale")
            raise _error(texts, None, [problem])
    return _merged(document, scales[scale])


def _parameters(
    document: Mapping[str, Any], changed: Mapping[str, str], where: str
) -> dict[str, Any]:
    """The document with parameters of the user's."""
    known: Mapping[str, Scalar] = document.get("parameters", {})
    values = dict(known)
    for name, text in changed.items():
        if name not in known:
            problem = unknown_name((), f"the program has no parameter {name!r}", name, known)
            raise HeapwrightError(f"{where}: {problem.text}", problem.hint)
        values[name] = _value(name, text, known[name])
    return {**document, "parameters": values}


def _value(name: str, text: str, known: Scalar) -> Scalar:
    """A text as a value of the kind that the file has."""
    if isinstance(known, bool):
        if text not in ("true", "false"):
            raise HeapwrightError(f"the parameter {name} is true or false, not {text!r}")
        return text == "true"
    if isinstance(known, str):
        return text
    kind: type[int] | type[float] = int if isinstance(known, int) else float
    try:
        return kind(text.replace("_", ""))
    except ValueError:
        what = "a whole number" if kind is int else "a number"
        raise HeapwrightError(f"the parameter {name} is {what}, not {text!r}") from None


def _merged(document: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(document)
    for key, value in changes.items():
        old = merged.get(key)
        if isinstance(old, dict) and isinstance(value, dict):
            merged[key] = _merged(old, value)
        else:
            merged[key] = value
    return merged


def _error(texts: Sequence[Text], scale: str | None, problems: Sequence[Problem]) -> ProgramError:
    """All that is wrong, each with the text that has most of its path."""
    told = []
    for problem in problems:
        places = [(*text.line_of(problem.keys, scale), text.where) for text in reversed(texts)]
        _, line, where = max(places, key=lambda place: place[0])
        key = ".".join(str(part + 1) if isinstance(part, int) else part for part in problem.keys)
        said = (
            f"{where}:{line}: {key}: {problem.text}" if key else f"{where}:{line}: {problem.text}"
        )
        told.append((where, line, said, problem.hint))
    told.sort(key=lambda each: each[:2])
    further = [f"{said} ({hint})" if hint else said for _, _, said, hint in told[1:MOST_TOLD]]
    if len(told) > MOST_TOLD:
        further.append(f"and {len(told) - MOST_TOLD} more")
    first = told[0]
    return ProgramError(first[2], "\n".join([first[3], *further] if first[3] else further))
