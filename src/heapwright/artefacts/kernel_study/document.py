# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A study of real kernels: its design, its journal of boots, and the summary that a page shows.

A results folder has `design.json`, written first, and `boots.jsonl`: one line a boot, written the
moment it is over. A line that was being written when the tool was killed is no line.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from heapwright.artefacts.kernel_study.boot import KernelBoot
from heapwright.artefacts.models import FrozenModel
from heapwright.artefacts.run.provenance import Environment
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.base.line_file import append_line, cut_torn_line

FORMAT: Literal["heapwright-kernel-study"] = "heapwright-kernel-study"
VERSION: Literal[1] = 1
DESIGN_FILE = "design.json"
BOOTS_FILE = "boots.jsonl"
BASELINE = "slub"
"""The kernel that ratios are over."""


class Cell(FrozenModel):
    """One boot that is to be made."""

    block: Annotated[int, Field(description="Replicate; it is the seed of its loads too")]
    load: str
    cpus: int
    allocator: str
    memory_mib: Annotated[int, Field(description="Of the machine; 0: that of the load")] = 0


class KernelDesign(FrozenModel):
    """What is booted, in which order, on which machine."""

    format: Literal["heapwright-kernel-study"] = FORMAT
    version: Literal[1] = VERSION
    scale: str
    seed: int
    kernels: dict[str, str]
    """Key of the cached kernel, by allocator."""
    cells: tuple[Cell, ...]
    machine: Environment


class KernelRun(FrozenModel):
    """One cell as it came out: a boot, or why there is none."""

    cell: Cell
    boot: KernelBoot | None = None
    failure: Annotated[str, Field(description="Why the last try failed")] = ""
    tries: Annotated[int, Field(ge=1, description="Boots that were begun for it")] = 1


class Figure(FrozenModel):
    """One response of one kernel under one load, over the replicates."""

    load: str
    cpus: int
    memory_mib: int = 0
    response: str
    allocator: str
    values: tuple[float, ...]
    mean: float
    ratio: Annotated[float | None, Field(description="Over the baseline's, paired by seed")] = None
    low: float | None = None
    high: float | None = None


def write_design(folder: Path, design: KernelDesign) -> None:
    """Begin a results folder. Raises HeapwrightError if it holds something already."""
    if folder.exists() and any(folder.iterdir()):
        raise HeapwrightError(f"{folder} is not empty", "name another with -o, or --resume it")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        partial = folder / f".{DESIGN_FILE}"
        partial.write_text(design.model_dump_json(indent=1) + "\n", encoding="utf-8")
        partial.rename(folder / DESIGN_FILE)
    except OSError as error:
        raise HeapwrightError(f"{folder} cannot be made: {error.strerror or error}") from error


def read_design(folder: Path) -> KernelDesign:
    """Raises HeapwrightError where there is none that can be read."""
    try:
        return KernelDesign.model_validate_json((folder / DESIGN_FILE).read_bytes())
    except OSError as error:
        raise HeapwrightError(f"{folder} holds no study of kernels", "name its folder") from error
    except ValidationError as error:
        raise HeapwrightError(f"{folder / DESIGN_FILE} cannot be read: {error}") from error


def append_run(folder: Path, run: KernelRun) -> None:
    """Keep one boot. Raises HeapwrightError where it cannot be written."""
    path = folder / BOOTS_FILE
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        try:
            cut_torn_line(descriptor)
            append_line(descriptor, run.model_dump_json())
        finally:
            os.close(descriptor)
    except OSError as error:
        raise HeapwrightError(
            f"{path} cannot be written: {error.strerror or error}",
            "with room for it: heapwright kernel study --resume",
            exit_code=ExitCode.NOT_WRITTEN,
        ) from error


def latest_runs(folder: Path) -> dict[Cell, KernelRun]:
    """The last line of each cell: a boot that failed may have been tried again later."""
    return {run.cell: run for run in read_runs(folder)}


def read_runs(folder: Path) -> Iterator[KernelRun]:
    """All whole lines."""
    try:
        text = (folder / BOOTS_FILE).read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return
    for line in text.splitlines():
        try:
            yield KernelRun.model_validate(json.loads(line))
        except (ValueError, ValidationError):
            continue
