# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Reads a study file. An error names the file, the line and the key.

All that is wrong is found at once: what the format forbids, then what one field alone cannot tell.
`[scale.NAME]` holds what is otherwise at that scale. Its tables are merged into the document. Its
other values, and responses with an origin, replace those of the document. The hash of a study is
that of its text.
"""

import hashlib
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heapwright.artefacts.study.model import FORMAT, Study
from heapwright.artefacts.study.readable import checked, only_factors
from heapwright.base.errors import HeapwrightError
from heapwright.base.problems import Keys, Problem, unknown_name
from heapwright.base.toml_lines import TomlLines

LARGEST = 4 * 2**20
MOST_TOLD = 20
DECODE_PLACE = re.compile(r" \(at (?:line (?P<line>\d+), column \d+|end of document)\)$")
TEXT_NAME = "the study"
ORIGIN = "from"
"""The key of a response that names its origin."""


class StudyError(HeapwrightError):
    """An error in a study file. `lines` are its places, in the order of the message.

    `file` is as much of the study as can be read, and `problems` what is wrong with that; None if
    no field can be.
    """

    def __init__(
        self,
        where: str,
        problems: Sequence[tuple[int, Problem]],
        file: "StudyFile | None" = None,
    ) -> None:
        told = [_told(where, line, problem) for line, problem in problems]
        hint = problems[0][1].hint
        further = [
            f"{text} ({problem.hint})" if problem.hint else text
            for text, (_, problem) in zip(told[1:MOST_TOLD], problems[1:], strict=False)
        ]
        if len(told) > MOST_TOLD:
            further.append(f"and {len(told) - MOST_TOLD} more")
        super().__init__(told[0], "\n".join([hint, *further] if hint else further))
        self.lines = tuple(line for line, _ in problems)
        self.problems = tuple(problem for _, problem in problems)
        self.file = file


def _told(where: str, line: int, problem: Problem) -> str:
    key = ".".join(str(part + 1) if isinstance(part, int) else part for part in problem.keys)
    return f"{where}:{line}: {key}: {problem.text}" if key else f"{where}:{line}: {problem.text}"


@dataclass(frozen=True, slots=True)
class StudyFile:
    """A study as it was read at one scale, and where it is from."""

    study: Study
    where: str
    """Its path, as the user wrote it; what errors begin with."""
    text: str
    scale: str | None
    folder: Path
    """What `{folder}` stands for, and what relative files of the study are in."""
    lines: "ScaledLines"

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode("utf-8")).hexdigest()

    def error_of(self, problems: Sequence[Problem]) -> StudyError:
        """Several things that are wrong, in the order of their lines."""
        placed = [(self.lines.of(problem.keys), problem) for problem in problems]
        return StudyError(self.where, sorted(placed, key=lambda each: each[0]), self)

    def error(self, keys: Keys, text: str, hint: str = "") -> StudyError:
        """What is found wrong later, said like the rest."""
        return StudyError(self.where, [(self.lines.of(keys), Problem(keys, text, hint))])


class ScaledLines:
    """Lines in a document whose `[scale.NAME]` has been merged in."""

    def __init__(self, lines: TomlLines, scale: str | None) -> None:
        self._lines = lines
        self._scale = scale

    def of(self, keys: Keys) -> int:
        steps, line = self._lines.found(keys)
        if self._scale is not None:
            deeper, scaled = self._lines.found(("scale", self._scale, *keys))
            if deeper - 2 >= max(steps, 1):
                return scaled
        return line


def read_study(path: Path | str, scale: str | None = None) -> StudyFile:
    """Read the study file at `path`, at one of its scales. Raises HeapwrightError."""
    file = Path(path)
    try:
        if file.stat().st_size > LARGEST:
            raise HeapwrightError(f"{path} is too large for a study file")
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise HeapwrightError(
            f"the study {path} cannot be read: {error.strerror or error}",
            "`heapwright study list` names the studies that come with it",
        ) from error
    except UnicodeDecodeError as error:
        raise HeapwrightError(f"{path} is no text in UTF-8, and so no study file") from error
    return parse_study(text, str(path), scale, file.absolute().parent)


def parse_study(
    text: str, where: str = TEXT_NAME, scale: str | None = None, folder: Path | None = None
) -> StudyFile:
    """Read a study out of a text; `where` begins the errors. Raises HeapwrightError."""
    document = _document(text, where)
    lines = TomlLines(text)
    _check_format(document, where, ScaledLines(lines, None))

    def file_of(study: Study, scale: str | None) -> StudyFile:
        return StudyFile(study, where, text, scale, folder or Path.cwd(), ScaledLines(lines, scale))

    study, problems = checked(document, None)
    file = file_of(study, None)
    placed = [(file.lines.of(problem.keys), problem) for problem in problems]
    written = document.get("scale")
    scales = written if isinstance(written, dict) else {}
    for name in scales if scale is None else scales.keys() & {scale}:
        seen = set(problems)
        at_scale, found = _at_scale(document, name, study if not problems else None)
        placed += [
            (ScaledLines(lines, name).of(problem.keys), _named_by(name, problem))
            for problem in found
            if problem not in seen
        ]
        if name == scale:
            file = file_of(at_scale, scale)
    if placed:
        raise StudyError(where, sorted(placed, key=lambda each: each[0]), file)
    if scale is not None and scale not in scales:
        problem = unknown_name((), f"the study has no scale {scale!r}", scale, scales)
        hint = (
            problem.hint if scales else "run it without --scale, or add [scale.small] to the file"
        )
        raise HeapwrightError(f"{where}: {problem.text}", hint)
    return file


def _named_by(scale: str, problem: Problem) -> Problem:
    return Problem(("scale", scale, *problem.keys), problem.text, problem.hint)


def scale_names(file: StudyFile) -> tuple[str, ...]:
    """The scales that a study has besides the whole."""
    return tuple(file.study.scale)


def _document(text: str, where: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        said = str(error)
        match = DECODE_PLACE.search(said)
        line = int(match["line"]) if match and match["line"] else text.count("\n") + 1
        what = said[: match.start()] if match else said
        raise StudyError(where, [(line, Problem((), f"this is not TOML: {what}"))]) from error
    except RecursionError as error:
        raise HeapwrightError(f"{where} nests too deeply for a study file") from error


def _check_format(document: Mapping[str, Any], where: str, lines: ScaledLines) -> None:
    """Before all else: a file of another format would only have wrong errors."""
    number = document.get("format")
    if isinstance(number, int) and not isinstance(number, bool) and number != FORMAT:
        why = "a newer heapwright reads it" if number > FORMAT else "there is no such format"
        problem = Problem(("format",), f"format {number}; this heapwright reads format {FORMAT}")
        raise StudyError(where, [(lines.of(("format",)), Problem(problem.keys, problem.text, why))])


def _at_scale(
    document: Mapping[str, Any], scale: str, whole: Study | None
) -> tuple[Study, list[Problem]]:
    """The study at a scale, and all that is wrong with that."""
    changes = document["scale"][scale]
    if not isinstance(changes, dict):
        return only_factors(document), []  # which is said of the table of scales
    fixed = [key for key in ("scale", "format", "name") if key in changes]
    rest = {key: value for key, value in changes.items() if key not in fixed}
    study, problems = checked(_merged(document, rest), whole)
    same = [Problem((key,), f"{key} is the same at every scale") for key in fixed]
    return study, [*same, *problems]


def _merged(document: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """The document with the changes. A response with an origin of its own replaces the old one,
    because the other keys of a response belong to its origin."""
    merged = dict(document)
    for key, value in changes.items():
        old = merged.get(key)
        if isinstance(old, dict) and isinstance(value, dict) and ORIGIN not in value:
            merged[key] = _merged(old, value)
        else:
            merged[key] = value
    return merged
