# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The folder of a run of a program; and what of such folders is left by who was killed.

A folder may hold a copy of a database. Whoever makes one holds a lock in it as long as it lives, so
that a folder whose lock is nobody's is known to be left over, and is removed by who runs a program
next, whatever numbers processes have by then.
"""

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path

from heapwright.experiment.scratch import Scratch

LOCK = "lock"
FOLDERS = "heapwright-*-*-*"


class RunFolder(Scratch):
    """A folder of ours for one run; a context manager that removes it with all that is in it."""

    def __init__(self) -> None:
        super().__init__(Path(tempfile.gettempdir()))
        made = self.path / f"{LOCK}-made"
        self._lock = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        made.rename(self.path / LOCK)  # held before it can be seen

    def remove(self) -> None:
        super().remove()
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def sweep() -> list[Path]:
    """Remove the folders of runs whose makers are dead; those that were removed."""
    return [each for each in Path(tempfile.gettempdir()).glob(FOLDERS) if _is_left(each)]


def _is_left(folder: Path) -> bool:
    """Whether a folder was left, and is gone now. Others' folders cannot be looked into."""
    with contextlib.suppress(OSError):
        lock = os.open(folder / LOCK, os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            if os.fstat(lock).st_uid != os.geteuid():
                return False
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder)
            return True
        finally:
            os.close(lock)
    return False
