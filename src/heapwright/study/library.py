# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The studies that come with heapwright, by name; all others are found by their path.

They are installed with the compiled parts; a tool that runs from the source tree with compiled
parts that have none takes those of the tree.
"""

from collections.abc import Iterator
from pathlib import Path

from heapwright.artefacts.errors import HeapwrightError
from heapwright.artefacts.layers import nearest
from heapwright.artefacts.native import NativeMissingError, native_dir
from heapwright.artefacts.paths import is_file, is_folder
from heapwright.artefacts.study_file import StudyFile, read_study

FOLDER = "studies"
SUFFIX = ".toml"
TREE = Path(__file__).resolve().parents[3]
LISTING = "`heapwright study list` names the studies that come with it; others are named by path"


def studies_folder() -> Path:
    """The folder of the studies that come with heapwright. Raises HeapwrightError."""
    places = [TREE / FOLDER] if is_file(TREE / "pyproject.toml") else []
    try:
        places.insert(0, native_dir() / FOLDER)
    except NativeMissingError:
        if not places:
            raise
    for place in places:
        if is_folder(place):
            return place
    raise NativeMissingError(f"there are no studies in {places[0]}", "build and install again")


def study_names() -> list[str]:
    """The studies that come with heapwright."""
    return sorted(path.stem for path in studies_folder().glob(f"*{SUFFIX}"))


def study_path(text: str) -> Path:
    """A study by its name or by its path. Raises HeapwrightError with the names that are near."""
    if text.endswith(SUFFIX) or "/" in text:
        return Path(text)
    names = study_names()
    if text in names:
        return studies_folder() / f"{text}{SUFFIX}"
    if is_file(Path(text)):
        return Path(text)
    hint = nearest(text, names)
    raise HeapwrightError(f"there is no study {text!r}", f"{hint} {LISTING}" if hint else LISTING)


def open_study(text: str, scale: str | None = None) -> StudyFile:
    """Read a study that is named as a user names it. Raises HeapwrightError."""
    return read_study(study_path(text), scale)


def every_study() -> Iterator[StudyFile]:
    """All that come with heapwright, by name."""
    for name in study_names():
        yield open_study(name)
