# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The folder of a search: its question, and the lock of the process that searches in it.

The same question continues a search. One process at a time holds a lock of the kernel, which ends
with the process.
"""

import contextlib
import errno
import fcntl
import os
import stat
from collections.abc import Collection
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from heapwright.artefacts.models import FrozenModel
from heapwright.base.errors import ExitCode, HeapwrightError

OPENED = (
    os.O_RDWR
    | os.O_CREAT
    | os.O_APPEND
    | os.O_CLOEXEC
    | os.O_NOFOLLOW
    | os.O_NONBLOCK
    | os.O_NOCTTY
)
MOST_BYTES = 1 << 30
"""Of a file of the folder: far more than the longest search writes."""
ANOTHER = "name a new folder with -o"


class SearchQuestion(FrozenModel):
    """What a search is about. Each verb adds its own fields."""

    seed: int


Asked = TypeVar("Asked", bound=SearchQuestion)


def lock_folder(path: Path, name: str, own: Collection[str], question: str) -> int:
    """Lock the file `name` of a folder, and return its descriptor, which reads and appends.

    The folder is made where it is missing. Without the file `question` it may have no other files
    than `own`. Raises HeapwrightError for a folder with other files, or in use.
    """
    if path.exists() and not path.is_dir():
        raise HeapwrightError(f"{path} is no folder", "name another with -o")
    try:
        path.mkdir(parents=True, exist_ok=True)
        others = {each.name for each in path.iterdir()} - {question, *own}
        if others and not (path / question).exists():
            raise HeapwrightError(f"{path} holds other files, and no search", ANOTHER)
        descriptor = os.open(path / name, OPENED, 0o666)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise HeapwrightError(f"{path / name} is no regular file", ANOTHER) from error
        raise HeapwrightError(
            f"-o {path} cannot be written: {error.strerror or error}",
            "name another folder",
            exit_code=ExitCode.NOT_WRITTEN,
        ) from error
    try:
        _refuse_other_kinds(path / name, os.fstat(descriptor))
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise HeapwrightError(
            f"another heapwright searches in {path}", "name another folder with -o"
        ) from None
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def agree(file: Path, asked: Asked, *, same_seed: bool) -> Asked:
    """The question in a file, which is written if there is none.

    Without `same_seed` the seed of the file holds. Raises HeapwrightError for another question.
    """
    if not file.exists():
        _write(file, asked)
        return asked
    _refuse_other_kinds(file, file.stat())
    try:
        found = type(asked).model_validate_json(file.read_bytes())
    except (OSError, ValidationError) as error:
        raise HeapwrightError(
            f"{file} is not the question of a search, or it was damaged", ANOTHER
        ) from error
    if not same_seed:
        asked = asked.model_copy(update={"seed": found.seed})
    if found != asked:
        one, other = found.model_dump(), asked.model_dump()
        different = ", ".join(name for name in one if one[name] != other[name])
        raise HeapwrightError(
            f"{file.parent} has another search: it differs in {different}",
            "repeat the command of that search, or name a new folder with -o",
        )
    return found


def _write(file: Path, asked: SearchQuestion) -> None:
    try:
        file.write_text(asked.model_dump_json(indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        with contextlib.suppress(OSError):
            file.unlink()
        raise HeapwrightError(
            f"{file} cannot be written: {error.strerror or error}",
            exit_code=ExitCode.NOT_WRITTEN,
        ) from error


def _refuse_other_kinds(file: Path, status: os.stat_result) -> None:
    """Refuse a device or a pipe, whose reading may never end, and a file that is far too large."""
    if not stat.S_ISREG(status.st_mode):
        raise HeapwrightError(f"{file} is no regular file", ANOTHER)
    if status.st_size > MOST_BYTES:
        raise HeapwrightError(
            f"{file} is too large for a search: {status.st_size:,} bytes", ANOTHER
        )
