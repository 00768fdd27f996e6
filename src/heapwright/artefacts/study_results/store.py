# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the results folder of a study: made once, then only ever appended to.

A line is written with one call and handed to the kernel at once, so all finished runs survive any
end of the tool. What stands behind the last whole line was being written when the last writer was
killed; it is cut off before the first new line. One process at a time writes. It holds a lock of
the kernel on the file of runs, which the kernel releases when the process ends in any way.
"""

import contextlib
import fcntl
import os
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.run.provenance import Environment
from heapwright.artefacts.study_results.folder import Folder
from heapwright.artefacts.study_results.runs import (
    DESIGN_FILE,
    DETAILS_FILE,
    RUNS_FILE,
    STUDY_FILE,
    Header,
    StudyDesign,
    StudyRun,
)
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.base.line_file import append_line, cut_torn_line

TEMPORARY = ".tmp"
OPENED = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC


def refuse_used(folder: Path) -> None:
    """Raises HeapwrightError if the folder holds something already."""
    if (folder / DESIGN_FILE).exists():
        raise HeapwrightError(
            f"{folder} holds results already",
            f"to go on with them: heapwright study resume {folder}\nfor new ones name another -o",
        )
    if not folder.exists():
        return
    if not folder.is_dir():
        raise HeapwrightError(f"{folder} is no folder", "name another with -o")
    if any(not _is_beginning(file.name) for file in folder.iterdir()):
        raise HeapwrightError(f"{folder} is not empty", "name a folder that is not there yet")


def _is_beginning(name: str) -> bool:
    """Whether a writer that was killed before it wrote the design leaves such a file."""
    return name == STUDY_FILE or name.endswith(TEMPORARY)


def host_file(host: str) -> str:
    """The name of a host's file."""
    safe = "".join(each if each.isalnum() or each in "-_." else "_" for each in host)
    return f"host-{safe or 'unknown'}.json"


class Store:
    """An open results folder; a context manager."""

    def __init__(self, folder: Folder) -> None:
        """Open it to go on.

        Raises HeapwrightError if another process writes there, or if its runs are compressed.
        """
        if folder.compressed:
            raise HeapwrightError(
                f"the runs of {folder.path} are compressed, and none is added to them",
                "run the study into another folder, and analyse both together",
            )
        self.folder = folder
        self._details = -1
        self._runs = _opened(folder.path / RUNS_FILE)
        try:
            _lock(self._runs, folder.path)
            self._details = _opened(folder.path / DETAILS_FILE)
            lines, _ = folder.lines()
            for descriptor in (self._runs, self._details):
                cut_torn_line(descriptor)
            if not os.fstat(self._runs).st_size:
                append_line(self._runs, Header.of(folder.design).model_dump_json())
        except BaseException:
            self.close()
            raise
        self.made = _made(lines)
        """How the runs that are there ended, by block and treatment."""

    @classmethod
    def create(cls, path: Path, study_text: str, design: StudyDesign) -> Self:
        """Begin a folder. Raises HeapwrightError if it is used or cannot be written."""
        refuse_used(path)
        try:
            path.mkdir(parents=True, exist_ok=True)
            _replace(path / STUDY_FILE, study_text)
            _replace(path / DESIGN_FILE, design.model_dump_json(indent=1) + "\n")
        except OSError as error:
            raise HeapwrightError(f"{path} cannot be made: {error.strerror or error}") from error
        return cls(Folder.open(path))

    def add_host(self, machine: Environment) -> None:
        """Keep what a host is, unless that is known already."""
        file = self.folder.path / host_file(machine.host)
        if not file.exists():
            _replace(file, machine.model_dump_json(indent=1) + "\n")

    def keep(self, run: StudyRun) -> None:
        """Write a run; one that is there already is not written again.

        Raises HeapwrightError if it cannot be written: the study ends, and loses this run only.
        """
        if run.key in self.made:
            return
        details, line = run.split()
        try:
            append_line(self._details, details)
            append_line(self._runs, line)
        except OSError as error:
            raise HeapwrightError(
                f"{self.folder.path / RUNS_FILE} cannot be written: {error.strerror or error}",
                f"with room for it: heapwright study resume {self.folder.path}",
                exit_code=ExitCode.NOT_WRITTEN,
            ) from error
        self.made[run.key] = run.outcome

    def close(self) -> None:
        for descriptor in (self._details, self._runs):
            if descriptor >= 0:
                os.close(descriptor)
        self._details = self._runs = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def is_being_written(folder: Path) -> bool:
    """Whether a process is running the study of this folder now."""
    try:
        descriptor = os.open(folder / RUNS_FILE, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _opened(file: Path) -> int:
    try:
        return os.open(file, OPENED, 0o666)
    except OSError as error:
        raise HeapwrightError(f"{file} cannot be written: {error.strerror or error}") from error


def _lock(descriptor: int, folder: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise HeapwrightError(
            f"another heapwright is running the study of {folder}",
            f"`heapwright study status {folder}` tells how far it is",
        ) from None


def _made(lines: bytes) -> dict[tuple[int, str], Outcome]:
    """Block and treatment of each run, with its outcome."""
    made: dict[tuple[int, str], Outcome] = {}
    for line in lines.splitlines():
        with contextlib.suppress(ValueError):
            run = StudyRun.model_validate_json(line)
            made.setdefault(run.key, run.outcome)
    return made


def _replace(file: Path, text: str) -> None:
    """Write a file atomically: readers see all of it or nothing."""
    descriptor, name = tempfile.mkstemp(prefix=".", suffix=TEMPORARY, dir=file.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(descriptor)
            os.fchmod(descriptor, 0o644)
        Path(name).replace(file)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
