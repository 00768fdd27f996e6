# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Runs `heapwright-look`, which reads the memory, and checks what it reports."""

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from heapwright.artefacts.look.document import (
    Blocks,
    Category,
    Glibc,
    Granary,
    LargeMapping,
    Leaks,
    Stacks,
)
from heapwright.base import native
from heapwright.base.errors import HeapwrightError
from heapwright.base.native_programs import complaint
from heapwright.look.process import gone

PROGRAM = "look"
DENIED = 4
ENDED = 5


class SizeClass(BaseModel):
    """The live blocks with usable sizes from `least` to below twice of it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    least: int
    blocks: int
    bytes: int


class Mimalloc(BaseModel):
    """The heap of mimalloc. The figures count if there is no problem."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    problem: str
    segments: int
    pages: int
    live: Blocks
    free_bytes: int
    resident_bytes: int


class Scan(BaseModel):
    """What heapwright-look prints (native/look/report.hpp)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    is_core: bool
    missing_bytes: int
    categories: tuple[Category, ...]
    glibc: Glibc | None
    granary: Granary | None
    mimalloc: Mimalloc | None
    stacks: Stacks
    largest: tuple[LargeMapping, ...]
    objects: tuple[str, ...]
    sizes: tuple[SizeClass, ...]
    """Of the live blocks; empty unless requested."""
    leaks: Leaks | None
    pause_ms: float | None
    copied_bytes: int


@dataclass(frozen=True, slots=True)
class Denied:
    """The memory could not be read."""

    why: str


def scan_process(
    pid: int, *, pause: bool, leaks: bool, sizes: bool = False, mimalloc: int = 0
) -> Scan | Denied:
    """Look at a process. Raises HeapwrightError if it has ended or the look failed.

    `mimalloc` is the version of that library in it; 0: it has none, or its version is unknown.
    """
    words = ["--pause"] if pause else []
    words += [] if leaks else ["--no-leaks"]
    words += ["--sizes"] if sizes else []
    words += ["--mimalloc", str(mimalloc)] if mimalloc else []
    words.append(str(pid))
    done = _run(words)
    if done.returncode == DENIED:
        return Denied(complaint(PROGRAM, done.returncode, done.stderr))
    if done.returncode == ENDED:
        raise gone(pid, "ended during the look")
    return _checked(done)


def scan_core(path: Path, *, leaks: bool) -> Scan:
    """Look at a core file. Raises HeapwrightError if it is none."""
    return _checked(_run([*([] if leaks else ["--no-leaks"]), "--core", str(path)]))


def _run(words: Sequence[str]) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run([str(native.program(PROGRAM)), *words], capture_output=True, check=False)


def _checked(done: "subprocess.CompletedProcess[bytes]") -> Scan:
    if done.returncode != 0:
        raise HeapwrightError(complaint(PROGRAM, done.returncode, done.stderr))
    try:
        return Scan.model_validate_json(done.stdout)
    except ValidationError as error:
        raise HeapwrightError(
            f"{native.program(PROGRAM)} is not of this version of heapwright",
            "build and install again",
        ) from error
