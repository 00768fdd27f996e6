# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Reads a load file. An error names the file, the line and the key.

The loads that come with heapwright are known by name; all others are found by their path.
"""

import hashlib
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from heapwright.artefacts.kernelsim.load import FORMAT, KernelLoad, Life, Lifetime
from heapwright.base.errors import HeapwrightError
from heapwright.base.problems import Keys, Problem, unknown_name
from heapwright.base.shipped import shipped_folder
from heapwright.base.spelling import nearest
from heapwright.base.toml_lines import TomlLines
from heapwright.base.validation import problems_of

LARGEST = 1 << 20
MOST_TOLD = 20
SUFFIX = ".toml"
REFERENCE = "reference"
LISTING = "`heapwright kernel models --load list` names those that come with it"
NAME = re.compile(r"[!-~]+")


@dataclass(frozen=True, slots=True)
class LoadFile:
    """A load as it was read."""

    load: KernelLoad
    where: str
    """Its path, or its name."""
    sha256: str


def loads_folder() -> Path:
    """The folder of the loads that come with heapwright. Raises HeapwrightError."""
    return shipped_folder("catalogue/loads", "loads")


def load_names() -> list[str]:
    """The loads that come with heapwright."""
    return sorted(path.stem for path in loads_folder().glob(f"*{SUFFIX}"))


def open_load(text: str) -> LoadFile:
    """A load by its name or by its path. Raises HeapwrightError with the names that are near."""
    if text.endswith(SUFFIX) or "/" in text:
        return read_load(Path(text), text)
    names = load_names()
    if text not in names:
        hint = nearest(text, names)
        message = f"there is no load {text!r}"
        raise HeapwrightError(message, f"{hint}\n{LISTING}" if hint else LISTING)
    return read_load(loads_folder() / f"{text}{SUFFIX}", text)


def read_load(path: Path, where: str | None = None) -> LoadFile:
    """Read the load file at `path`. Raises HeapwrightError."""
    name = str(path) if where is None else where
    text = _text_of(path, name)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise HeapwrightError(f"{name}: this is not TOML: {error}") from error
    except RecursionError as error:
        raise HeapwrightError(f"{name} nests too deeply for a load file") from error
    number = document.get("format")
    if isinstance(number, int) and not isinstance(number, bool) and number != FORMAT:
        why = "a newer heapwright reads it" if number > FORMAT else "there is no such format"
        problem = Problem(("format",), f"format {number}; this heapwright reads {FORMAT}", why)
        raise _error(name, text, [problem])
    try:
        load = KernelLoad.model_validate(document)
    except ValidationError as error:
        raise _error(name, text, problems_of(error, document, KernelLoad)) from None
    if problems := list(_problems(load)):
        raise _error(name, text, problems)
    return LoadFile(load, name, hashlib.sha256(text.encode()).hexdigest())


def _text_of(path: Path, name: str) -> str:
    try:
        if path.stat().st_size > LARGEST:
            raise HeapwrightError(f"{name} is too large for a load file")
        return path.read_text(encoding="utf-8")
    except OSError as error:
        why = error.strerror or error
        raise HeapwrightError(f"the load {name} cannot be read: {why}", LISTING) from error
    except UnicodeDecodeError as error:
        raise HeapwrightError(f"{name} is no text in UTF-8, and so no load file") from error


def _problems(load: KernelLoad) -> Iterator[Problem]:
    """What each table by itself cannot say."""
    for name in load.cache:
        if NAME.fullmatch(name) is None:
            yield Problem(("cache", name), "the name of a cache has no blanks in it")
    for place, activity in enumerate(load.activity):
        yield from _life(("activity", place, "life"), activity.life)
        for number, part in enumerate(activity.parts):
            here: Keys = ("activity", place, "parts", number)
            yield from _life((*here, "life"), part.life)
            if part.cache is not None and part.cache not in load.cache:
                text = f"there is no cache {part.cache!r}"
                yield unknown_name((*here, "cache"), text, part.cache, load.cache)
    if not any(activity.weight > 0 for activity in load.activity):
        yield Problem(("activity",), "no activity has a weight")


def _life(keys: Keys, life: Life | None) -> Iterator[Problem]:
    if not isinstance(life, Lifetime):
        return
    if (life.mean is None) == (life.between is None):
        yield Problem(keys, "a life has either a mean, or two numbers that it is between")
    elif life.between is not None and life.between[0] > life.between[1]:
        yield Problem(keys, "the first number of between is the smaller one")


def _error(name: str, text: str, problems: Sequence[Problem]) -> HeapwrightError:
    """All that is wrong, in the order of its lines."""
    lines = TomlLines(text)
    told = sorted(
        ((lines.of(each.keys), _said(each), each.hint) for each in problems), key=lambda at: at[0]
    )
    first = told[0]
    further = [
        f"{name}:{line}: {said}" + (f" ({hint})" if hint else "")
        for line, said, hint in told[1:MOST_TOLD]
    ]
    if len(told) > MOST_TOLD:
        further.append(f"and {len(told) - MOST_TOLD} more")
    hints = [first[2], *further] if first[2] else further
    return HeapwrightError(f"{name}:{first[0]}: {first[1]}", "\n".join(hints))


def _said(problem: Problem) -> str:
    key = ".".join(str(part + 1) if isinstance(part, int) else part for part in problem.keys)
    return f"{key}: {problem.text}" if key else problem.text


def changed(load: KernelLoad, changes: Mapping[str, Any]) -> KernelLoad:
    """The same load with another number of operations, or more memory. Raises HeapwrightError."""
    document = {**load.model_dump(by_alias=True, exclude_unset=True), **changes}
    try:
        return KernelLoad.model_validate(document)
    except ValidationError as error:
        problem = problems_of(error, document, KernelLoad)[0]
        raise HeapwrightError(_said(problem)) from None
