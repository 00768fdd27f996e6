# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Questions about paths that always have an answer.

`Path.is_file` raises if a folder on the way may not be searched, or if a name is too long. These
functions return False then.
"""

import errno
from collections.abc import Sequence
from pathlib import Path


def is_file(path: Path) -> bool:
    """Whether `path` leads to a regular file that this process can see."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def is_folder(path: Path) -> bool:
    """Whether `path` leads to a folder that this process can see."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def exists(path: Path) -> bool:
    """Whether `path` leads to anything that this process can see."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def why_not_made(folder: Path, error: OSError) -> str:
    """Why a folder could not be made. The system says "no such file" on some read-only places."""
    if error.errno in {errno.EROFS, errno.ENOENT, errno.EACCES, errno.EPERM}:
        there = next((each for each in (folder, *folder.parents) if exists(each)), folder)
        return f"{there} is read-only"
    return error.strerror or str(error)


TRACE_MAGIC = b"HWTRACE\x1a"
"""The first bytes of a trace."""


def is_trace(path: Path) -> bool:
    """Whether the file is there and begins as a trace does."""
    try:
        with path.open("rb") as file:
            return file.read(len(TRACE_MAGIC)) == TRACE_MAGIC
    except (OSError, ValueError):
        return False


def trace_in(words: Sequence[str]) -> Path | None:
    """The trace that replaces a command; None: the words are a command."""
    return Path(words[0]) if len(words) == 1 and is_trace(Path(words[0])) else None


def below(root: Path, path: str | Path) -> Path:
    """An absolute path as a process with that root folder has it."""
    return root / str(path).lstrip("/")
