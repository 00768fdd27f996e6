# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The studies that come with heapwright, by name; all others are found by their path."""

from collections.abc import Iterator
from pathlib import Path

from heapwright.artefacts.study.file import StudyFile, read_study
from heapwright.base.errors import HeapwrightError
from heapwright.base.paths import is_file
from heapwright.base.shipped import shipped_folder
from heapwright.base.spelling import nearest

SUFFIX = ".toml"
LISTING = "`heapwright study list` names the studies that come with it; others are named by path"


def studies_folder() -> Path:
    """The folder of the studies that come with heapwright. Raises HeapwrightError."""
    return shipped_folder("catalogue/studies", "studies")


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
