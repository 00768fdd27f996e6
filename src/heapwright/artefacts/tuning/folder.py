# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The folder of a search: its plan, and its runs as they are made.

A run is one line, written with one call. After any end of the tool the folder has all finished
runs, and the same search continues from them.
"""

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from pydantic import ValidationError

from heapwright.artefacts.run.measured import Run
from heapwright.artefacts.search_folder import SearchQuestion, agree, lock_folder
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.base.line_file import append_line, cut_torn_line

PLAN_FILE = "search.json"
RUNS_FILE = "runs.jsonl"


class SearchPlan(SearchQuestion):
    """The question of a search. The same question continues it."""

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
    finer: bool = False
    """Levels outside of the grid are raced too."""
    objective: str
    cap: float | None
    margin: float


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
        descriptor = lock_folder(path, RUNS_FILE, {RUNS_FILE}, PLAN_FILE)
        try:
            cut_torn_line(descriptor)
            agreed = agree(path / PLAN_FILE, plan, same_seed=same_seed)
            return cls(path, agreed, descriptor, begun)
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
