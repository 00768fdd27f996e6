# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Temporary folders, and the removal of those that killed processes left.

A folder may hold a trace, or a copy of a database. The process that makes one holds a lock on it
until its end. A folder without a lock is a leftover, even if its process number is in use again.
Its name says on which host it was made, for a lock may be seen on that one alone. `sweep` removes
what is left; every command begins with that.
"""

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import socket
import tempfile
from itertools import count
from pathlib import Path
from types import TracebackType

OWN = 0o700
OTHER_PLACES = ("/tmp", "/var/tmp", "/dev/shm")
"""Where a folder is made if the one for temporary files does not do."""
_HOST = hashlib.sha256(os.fsencode(socket.gethostname())).hexdigest()[:8]
_NAME = re.compile(rf"heapwright\.{_HOST}-[0-9]+-[0-9]+")
_NUMBERS = count(1)


class Scratch:
    """An empty temporary folder; a context manager that removes it with all that is in it.

    As cheap as can be, for a run may have one or two.
    """

    def __init__(self, parent: Path | None = None) -> None:
        """In the folder for temporary files, or another. Raises OSError where none can be made."""
        place = Path(tempfile.gettempdir()) if parent is None else parent
        while True:
            self.path = place / f"heapwright.{_HOST}-{os.getpid()}-{next(_NUMBERS)}"
            try:
                self.path.mkdir(OWN)
            except FileExistsError:
                continue
            try:
                self._lock = _locked(self.path)
            except FileNotFoundError:
                continue  # it was swept before it was locked
            except OSError:
                self.path.rmdir()
                raise
            return

    def remove(self) -> None:
        """All of it. What cannot be removed now is left to a sweep."""
        try:
            for entry in self.path.iterdir():
                entry.unlink()
            self.path.rmdir()
        except FileNotFoundError:
            pass
        except OSError:  # there are folders in it
            _remove_tree(self.path)
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def __enter__(self) -> Path:
        return self.path

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.remove()


def sweep() -> list[Path]:
    """Remove the folders that dead makers left; those that were removed."""
    removed: list[Path] = []
    for place in dict.fromkeys((tempfile.gettempdir(), *OTHER_PLACES)):
        with contextlib.suppress(OSError):
            names = [name for name in os.listdir(place) if _NAME.fullmatch(name)]  # noqa: PTH208
            removed += [Path(place, name) for name in names if _is_left(Path(place, name))]
    return removed


def _locked(folder: Path) -> int:
    """A descriptor that holds the folder's lock. Raises FileNotFoundError if the folder is gone.

    A file system may have no locks for folders. Leftovers are not removed there.
    """
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    with contextlib.suppress(OSError):
        fcntl.flock(lock, fcntl.LOCK_EX)
    with contextlib.suppress(FileNotFoundError):
        if os.path.samestat(os.fstat(lock), folder.stat()):
            return lock
    os.close(lock)
    raise FileNotFoundError(folder)


def _is_left(folder: Path) -> bool:
    """Whether a folder was left, and is gone now. Others' folders are not touched."""
    with contextlib.suppress(OSError):
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW
        lock = os.open(folder, flags)
        try:
            if os.fstat(lock).st_uid != os.geteuid():
                return False
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _remove_tree(folder)
            return not folder.exists()
        finally:
            os.close(lock)
    return False


def _remove_tree(folder: Path) -> None:
    """As far as possible: a program may have made read-only folders in it."""
    shutil.rmtree(folder, ignore_errors=True)
    if not folder.exists():
        return
    for path, folders, _ in os.walk(folder):
        for name in folders:
            if not os.path.islink(os.path.join(path, name)):  # noqa: PTH114, PTH118
                with contextlib.suppress(OSError):
                    os.chmod(os.path.join(path, name), OWN)  # noqa: PTH101, PTH118
    shutil.rmtree(folder, ignore_errors=True)
