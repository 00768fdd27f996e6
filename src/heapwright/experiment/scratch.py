# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A folder for the time of one run; as cheap as can be, for a run may have one or two."""

import contextlib
import os
import secrets
import shutil
from itertools import count
from pathlib import Path
from types import TracebackType

OWN = 0o700
_TOKEN = secrets.token_hex(4)
_NUMBERS = count(1)


class Scratch:
    """An empty folder of ours; a context manager that removes it with all that is in it."""

    def __init__(self, parent: Path, mode: int = OWN) -> None:
        """Raises OSError where none can be made."""
        while True:
            name = f"heapwright-{_TOKEN}-{os.getpid()}-{next(_NUMBERS)}"
            self.path = parent / name
            try:
                self.path.mkdir(mode)
            except FileExistsError:
                continue
            return

    def remove(self) -> None:
        try:
            for entry in self.path.iterdir():
                entry.unlink()
            self.path.rmdir()
        except FileNotFoundError:
            return
        except OSError:  # there are folders in it
            with contextlib.suppress(OSError):
                shutil.rmtree(self.path)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.remove()
