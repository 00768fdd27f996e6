# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The folder of a search: its plan, and its runs as they are made.

A run is one line, written with one call. After any end of the tool the folder has all finished
runs, and the same search continues from them. One process at a time writes. It holds a lock of the
kernel.
"""

import contextlib
import fcntl
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from heapwright.artefacts.run.measured import Run
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.base.line_file import append_line, cut_torn_line

PLAN_FILE = "search.json"
RUNS_FILE = "runs.jsonl"
OPENED = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
MOST_BYTES = 1 << 30
"""Of a file of the folder: far more than the longest search writes."""


class SearchPlan(BaseModel):
    """The question of a search. The same question continues it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["heapwright search"] = "heapwright search"
    version: Literal[1] = 1
    command: tuple[str, ...]
    program: str = ""
    """The program of the catalogue with its scale and parameters, or the trace; else empty."""
    cwd: str
    allocator: str
    library: str
    """Its hash; empty for the C library."""
    settings: dict[str, tuple[str, ...]]
    """The levels of each setting."""
    objective: str
    cap: float | None
    margin: float
    seed: int


Made = dict[tuple[int, str], Run]
"""By block and level."""


@dataclass(frozen=True, slots=True)
class _Begun:
    """What was not there before this process opened the folder."""

    folder: bool
    plan: bool


class SearchFolder:
    """An open folder; a context manager."""

    def __init__(self, path: Path, plan: SearchPlan, descriptor: int, begun: _Begun) -> None:
        self.path = path
        self.plan = plan
        self._descriptor = descriptor
        self._begun = begun
        self.made: Made = _runs(path / RUNS_FILE)

    @classmethod
    def open(cls, path: Path, plan: SearchPlan, *, same_seed: bool) -> Self:
        """Begin a search, or continue the same one.

        Without `same_seed` the seed of the folder holds. Raises HeapwrightError for a folder of
        another search, of another kind, or in use.
        """
        begun = _Begun(folder=not path.exists(), plan=not (path / PLAN_FILE).exists())
        descriptor = _locked(path)
        try:
            return cls(path, _agreed(path, plan, same_seed=same_seed), descriptor, begun)
        except BaseException:
            os.close(descriptor)
            raise

    def keep(self, run: Run) -> None:
        """Write a run. Raises HeapwrightError if it cannot be written."""
        try:
            append_line(self._descriptor, run.model_dump_json())
        except OSError as error:
            raise HeapwrightError(
                f"{self.path / RUNS_FILE} cannot be written: {error.strerror or error}",
                f"with room for it, the same command with -o {self.path} continues the search",
                exit_code=ExitCode.NOT_WRITTEN,
            ) from error
        self.made[run.block, run.level] = run

    def discard(self) -> None:
        """Remove what this process began. A search that is continued stays, and so do runs that
        are more than a warm-up."""
        if not self._begun.plan or not all(run.warmup for run in self.made.values()):
            return
        with contextlib.suppress(OSError):
            (self.path / PLAN_FILE).unlink()
            (self.path / RUNS_FILE).unlink()
            if self._begun.folder:
                self.path.rmdir()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._descriptor)


def _locked(path: Path) -> int:
    if path.exists() and not path.is_dir():
        raise HeapwrightError(f"{path} is no folder", "name another with -o")
    try:
        path.mkdir(parents=True, exist_ok=True)
        others = {each.name for each in path.iterdir()} - {PLAN_FILE, RUNS_FILE}
        if others and not (path / PLAN_FILE).exists():
            raise HeapwrightError(
                f"{path} holds other files, and no search", "name a new folder with -o"
            )
        descriptor = os.open(path / RUNS_FILE, OPENED, 0o666)
    except OSError as error:
        raise HeapwrightError(
            f"-o {path} cannot be written: {error.strerror or error}", "name another folder"
        ) from error
    try:
        _refuse_other_kinds(path / RUNS_FILE, os.fstat(descriptor))
    except BaseException:
        os.close(descriptor)
        raise
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise HeapwrightError(
            f"another heapwright searches in {path}", "name another folder with -o"
        ) from None
    cut_torn_line(descriptor)
    return descriptor


def _refuse_other_kinds(file: Path, status: os.stat_result) -> None:
    """Refuse a device or a pipe, whose reading may never end, and a file that is far too large."""
    if not stat.S_ISREG(status.st_mode):
        raise HeapwrightError(f"{file} is no regular file", "name a new folder with -o")
    if status.st_size > MOST_BYTES:
        raise HeapwrightError(
            f"{file} is too large for a search: {status.st_size:,} bytes",
            "name a new folder with -o",
        )


def _agreed(path: Path, plan: SearchPlan, *, same_seed: bool) -> SearchPlan:
    """The plan of the folder; it is written if there is none."""
    file = path / PLAN_FILE
    if not file.exists():
        try:
            file.write_text(plan.model_dump_json(indent=1) + "\n", encoding="utf-8")
        except OSError as error:
            with contextlib.suppress(OSError):
                file.unlink()
            raise HeapwrightError(
                f"{file} cannot be written: {error.strerror or error}",
                exit_code=ExitCode.NOT_WRITTEN,
            ) from error
        return plan
    _refuse_other_kinds(file, file.stat())
    try:
        found = SearchPlan.model_validate_json(file.read_bytes())
    except (OSError, ValidationError) as error:
        raise HeapwrightError(
            f"{file} is not the plan of a search, or it was damaged", "name a new folder with -o"
        ) from error
    asked = plan if same_seed else plan.model_copy(update={"seed": found.seed})
    if found != asked:
        different = _different(found.model_dump(), asked.model_dump())
        raise HeapwrightError(
            f"{path} has another search: it differs in {', '.join(different)}",
            "repeat the command of that search, or name a new folder with -o",
        )
    return found


def _different(one: Mapping[str, object], other: Mapping[str, object]) -> list[str]:
    return [name for name in one if one[name] != other[name]]


def _runs(file: Path) -> Made:
    """The runs of the file; a damaged line is no run."""
    made: Made = {}
    try:
        lines = file.read_bytes().splitlines()
    except OSError as error:
        raise HeapwrightError(f"{file} cannot be read: {error.strerror or error}") from error
    for line in lines:
        with contextlib.suppress(ValidationError):
            run = Run.model_validate_json(line)
            made.setdefault((run.block, run.level), run)
    return made
