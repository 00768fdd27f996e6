# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The user's registry, written to: whole folders, moved into their place at the end.

A composition is made in a folder beside its future place. The folder's name begins with a dot, so
that no reader takes it for an entry. One rename makes it known. An earlier error leaves nothing.
"""

import contextlib
import errno
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from heapwright.artefacts.allocator.catalogue import BrokenAllocator, Catalogue, UserAllocator
from heapwright.artefacts.allocator.user_registry import VARIABLE
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.base.paths import exists, why_not_made

NAME = re.compile(r"[a-z][a-z0-9]*([_-][a-z0-9]+)*")
LONGEST_NAME = 60
OCCUPIED = (errno.ENOTEMPTY, errno.EEXIST)


def check_name(name: str, catalogue: Catalogue, folder: Path, *, force: bool) -> None:
    """Refuse a name that is none, or that is taken. Raises HeapwrightError."""
    if not NAME.fullmatch(name) or len(name) > LONGEST_NAME:
        raise HeapwrightError(
            f"{name!r} is no name for an allocator",
            f"small letters, digits and single hyphens, at most {LONGEST_NAME}: my-lea",
        )
    entry = catalogue.find(name)
    if entry is not None and not isinstance(entry, UserAllocator | BrokenAllocator):
        raise HeapwrightError(f"{name} is in the catalogue already", "choose another name")
    if not force and (entry is not None or exists(folder / name)):
        raise HeapwrightError(
            f"you have composed {name} already", "choose another name, or replace it with --force"
        )


@contextmanager
def staging(folder: Path, name: str) -> Iterator[Path]:
    """A folder to make an allocator in, which is gone afterwards unless it was installed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=folder))
    except OSError as error:
        raise HeapwrightError(
            f"your registry {folder} cannot be written: {why_not_made(folder, error)}",
            f"{VARIABLE} names another folder",
            exit_code=ExitCode.NOT_WRITTEN,
        ) from error
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def install(made: Path, folder: Path, name: str, *, force: bool) -> Path:
    """Move what was made to its place. Raises HeapwrightError; what was there is there then."""
    place = folder / name
    aside = made.with_name(f"{made.name}.old")
    try:
        made.chmod(0o755)
        if force and exists(place):
            place.rename(aside)
        made.rename(place)
    except OSError as error:
        with contextlib.suppress(OSError):
            if exists(aside) and not exists(place):
                aside.rename(place)
        if error.errno in OCCUPIED:
            raise HeapwrightError(f"{name} was composed by another process meanwhile") from error
        raise HeapwrightError(
            f"{place} cannot be written: {error.strerror or error}",
            exit_code=ExitCode.NOT_WRITTEN,
        ) from error
    shutil.rmtree(aside, ignore_errors=True)
    return place


def delete(folder: Path, name: str, catalogue: Catalogue) -> Path:
    """Take an allocator out of the user's registry. Raises HeapwrightError."""
    place = folder / name
    if not NAME.fullmatch(name) or not exists(place):
        if catalogue.find(name) is not None:
            raise HeapwrightError(f"{name} is in the catalogue and not yours to delete")
        own = ", ".join(each.name for each in catalogue.own) or "none"
        raise HeapwrightError(f"you have composed no {name!r}", f"yours: {own}")
    try:
        aside = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=folder))
        place.rename(aside / name)
    except OSError as error:
        raise HeapwrightError(
            f"{place} cannot be deleted: {error.strerror or error}",
            exit_code=ExitCode.NOT_WRITTEN,
        ) from error
    shutil.rmtree(aside, ignore_errors=True)
    return place
