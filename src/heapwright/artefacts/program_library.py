# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The programs that come with heapwright, by name; all others are found by their path.

They are installed with the compiled parts; a tool that runs from the source tree with compiled
parts that have none takes those of the tree.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from heapwright.artefacts.errors import HeapwrightError
from heapwright.artefacts.layers import nearest
from heapwright.artefacts.native import NativeMissingError, native_dir
from heapwright.artefacts.paths import is_file, is_folder
from heapwright.artefacts.program_file import SUFFIX, ProgramFile, read_program

FOLDER = "programs"
REFERENCE = "reference"
TREE = Path(__file__).resolve().parents[3]
LISTING = "`heapwright programs list` names those that come with it; others are named by path"


def programs_folder() -> Path:
    """The folder of the programs that come with heapwright. Raises HeapwrightError."""
    places = [TREE / FOLDER] if is_file(TREE / "pyproject.toml") else []
    try:
        places.insert(0, native_dir() / FOLDER)
    except NativeMissingError:
        if not places:
            raise
    for place in places:
        if is_folder(place):
            return place
    raise NativeMissingError(f"there are no programs in {places[0]}", "build and install again")


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


def every_program() -> Iterator[ProgramFile]:
    """All that come with heapwright, by name, but for the reference."""
    for name in program_names():
        if name != REFERENCE:
            yield open_program(name)
