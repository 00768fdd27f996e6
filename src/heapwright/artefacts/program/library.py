# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The programs that come with heapwright, by name; all others are found by their path."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from heapwright.artefacts.program.file import SUFFIX, ProgramFile, read_program
from heapwright.base.errors import HeapwrightError
from heapwright.base.shipped import shipped_folder
from heapwright.base.spelling import nearest

REFERENCE = "reference"
LISTING = "`heapwright programs list` names those that come with it; others are named by path"


def programs_folder() -> Path:
    """The folder of the programs that come with heapwright. Raises HeapwrightError."""
    return shipped_folder("catalogue/programs", "programs")


def program_names() -> list[str]:
    """The programs that come with heapwright."""
    return sorted(path.stem for path in programs_folder().glob(f"*{SUFFIX}"))


def program_path(text: str) -> Path:
    """A program by its name or by its path. Raises HeapwrightError with the names that are near."""
    if text.endswith(SUFFIX) or "/" in text:
        return Path(text)
    names = program_names()
    if text in names:
        return programs_folder() / f"{text}{SUFFIX}"
    hint = nearest(text, names)
    raise HeapwrightError(f"there is no program {text!r}", f"{hint} {LISTING}" if hint else LISTING)


def open_program(
    text: str, scale: str | None = None, parameters: Mapping[str, str] | None = None
) -> ProgramFile:
    """Read a program that is named as a user names it. Raises HeapwrightError."""
    return read_program(program_path(text), scale, parameters)


def preloadable_names() -> tuple[str, ...]:
    """The programs whose allocator a library replaces: all without an allocator of their own."""
    found = (file.program for file in every_program())
    return tuple(each.name for each in found if not each.own_allocator)


def every_program() -> Iterator[ProgramFile]:
    """All that come with heapwright, by name, but for the reference."""
    for name in program_names():
        if name != REFERENCE:
            yield open_program(name)
