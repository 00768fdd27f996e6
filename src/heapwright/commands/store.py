# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A folder of comparison documents, one for each measurement, which `history` reads."""

import os
import re
import subprocess
import tempfile
from pathlib import Path

from heapwright.artefacts.comparison.document import Comparison
from heapwright.base.errors import ExitCode, HeapwrightError

UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
GIT_LIMIT_S = 10.0


def revision_of(folder: Path) -> str:
    """The commit of the checkout that contains `folder`, as git describes it; empty without one."""
    words = ["git", "-C", str(folder), "describe", "--always", "--dirty", "--tags"]
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, check=False, timeout=GIT_LIMIT_S
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def refuse_store(folder: Path) -> None:
    """Make the folder. Raises HeapwrightError if nothing can be stored there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise HeapwrightError(
            f"--store {folder}: nothing can be stored there: {error.strerror or error}",
            "nothing was run; choose another folder",
        ) from error


def store(comparison: Comparison, folder: Path) -> Path:
    """Write the document as a new file DATE-REVISION.json and return its path.

    The file is complete or missing, and never replaces another. Raises HeapwrightError.
    """
    date = UNSAFE.sub("", comparison.environment.date.partition(".")[0].partition("+")[0])
    name = "-".join(filter(None, (date, UNSAFE.sub("_", comparison.revision))))
    try:
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=".", suffix=".tmp")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                stream.write(comparison.to_json())
            return _linked(Path(temporary), folder, name)
        finally:
            Path(temporary).unlink()
    except OSError as error:
        raise HeapwrightError(
            f"--store {folder}: the document was not stored: {error.strerror or error}",
            exit_code=ExitCode.NOT_WRITTEN,
        ) from error


def _linked(temporary: Path, folder: Path, name: str) -> Path:
    """Give the file its name, or the next free one."""
    number = 1
    while True:
        path = folder / (f"{name}.json" if number == 1 else f"{name}-{number}.json")
        try:
            path.hardlink_to(temporary)
        except FileExistsError:
            number += 1
        else:
            return path
