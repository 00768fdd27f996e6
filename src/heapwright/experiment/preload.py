# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Paths that LD_PRELOAD can hold.

The loader splits LD_PRELOAD at colons and blanks, cannot quote them, and expands `$ORIGIN` and
similar names. The path of a library with such characters is replaced by a symbolic link in a
temporary folder.
"""

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Self

from heapwright.base.errors import HeapwrightError
from heapwright.base.paths import is_folder
from heapwright.base.scratch import OTHER_PLACES, Scratch

UNSAFE = frozenset(": \t\n\r\f\v$")


class PreloadPaths:
    """Makes paths that the loader understands; a context manager that cleans up after itself."""

    def __init__(self) -> None:
        self._folder: Scratch | None = None
        self._lock = Lock()

    def of(self, library: Path) -> str:
        """The text for LD_PRELOAD that makes the loader load `library`."""
        text = os.fspath(library)
        if not UNSAFE.intersection(text):
            return text
        link = self._links() / f"{hashlib.sha256(os.fsencode(text)).hexdigest()[:16]}.so"
        with contextlib.suppress(FileExistsError):
            link.symlink_to(library.absolute())
        return os.fspath(link)

    def _links(self) -> Path:
        with self._lock:
            return self._make_folder()

    def _make_folder(self) -> Path:
        if self._folder is None:
            places = (tempfile.gettempdir(), *OTHER_PLACES)
            place = next(
                (p for p in places if not UNSAFE.intersection(p) and is_folder(Path(p))), ""
            )
            if not place:
                raise HeapwrightError(
                    "there is no folder for temporary files whose name the loader can read",
                    "set TMPDIR to a folder without blanks and colons in its name",
                )
            self._folder = Scratch(Path(place))
        return self._folder.path

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._folder is not None:
            self._folder.remove()
            self._folder = None
