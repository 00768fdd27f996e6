# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The journal: every raw run on disk the moment it is over.

One JSON object a line: first a header (what was run, how), then one line a run. A line is written
with one call and handed to the kernel at once. So all finished runs stay readable if the tool ends
early (a signal, a full disk, a defect). It is not synchronised to the disk: the write would then
disturb the next run.

The journal lives in $XDG_STATE_HOME/heapwright (by default ~/.local/state/heapwright), else in the
folder for temporary files. A journal that cannot be written never stops a measurement: the error is
kept in `failure` and reported at the end.
"""

import contextlib
import json
import os
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from heapwright.base.line_file import append_line

FORMAT = "heapwright-journal"
VERSION = 1


def journal_folders() -> list[Path]:
    """Where a journal may lie, best first."""
    folders = []
    state = os.environ.get("XDG_STATE_HOME", "")
    if state and Path(state).is_absolute():
        folders.append(Path(state) / "heapwright")
    else:
        with contextlib.suppress(RuntimeError):
            folders.append(Path.home() / ".local" / "state" / "heapwright")
    folders.append(Path(tempfile.gettempdir()) / f"heapwright-{os.getuid()}")
    return folders


class Journal:
    """An append-only file of runs. Use as a context manager; `discard` when it is not needed."""

    def __init__(self, path: Path | None, descriptor: int, failure: str = "") -> None:
        self.path = path
        self.failure = failure
        self._descriptor = descriptor

    @classmethod
    def open(
        cls,
        header: Mapping[str, object],
        folders: list[Path] | None = None,
        *,
        name: str = "compare",
    ) -> Self:
        """Begin a journal in the first of `folders` that can be written; its name begins so."""
        failure = ""
        for folder in journal_folders() if folders is None else folders:
            try:
                path, descriptor = _create(folder, name)
            except OSError as error:
                failure = f"{error.strerror or error}: {error.filename or folder}"
                continue
            journal = cls(path, descriptor)
            journal.append({"format": FORMAT, "version": VERSION, **header})
            return journal
        return cls(None, -1, failure)

    def append(self, record: Mapping[str, object]) -> None:
        """Write one line, whole or not at all."""
        self.append_line(json.dumps(record, ensure_ascii=False, separators=(",", ":")))

    def append_line(self, text: str) -> None:
        """Write one line that is JSON already."""
        if self._descriptor < 0 or self.failure:
            return
        try:
            append_line(self._descriptor, text)
        except OSError as error:
            self.failure = str(error.strerror or error)

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def discard(self) -> None:
        """Close and remove: the runs are safe elsewhere."""
        self.close()
        if self.path is not None:
            self.path.unlink(missing_ok=True)
            self.path = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _create(folder: Path, name: str) -> tuple[Path, int]:
    """A new journal in `folder`, named by the time, readable by its owner only."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_APPEND
    number = 0
    while True:
        suffix = f"-{number}" if number else ""
        path = folder / f"{name}-{stamp}-{os.getpid()}{suffix}.jsonl"
        try:
            return path, os.open(path, flags, 0o600)
        except FileExistsError:
            number += 1
