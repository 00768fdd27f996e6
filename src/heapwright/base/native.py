# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Where the compiled parts are: allocators, the witness, and the programs of the harness.

They are installed inside the package (`heapwright/native`). The variable HEAPWRIGHT_NATIVE names
another such folder, for a build that was installed elsewhere. For example, `cmake --install build
--prefix P` makes `P/heapwright/native`. Nothing is looked up when this module is imported, so that
reading artefacts needs no compiled part at all.
"""

import os
from functools import cache
from pathlib import Path

from heapwright.base.errors import HeapwrightError

VARIABLE = "HEAPWRIGHT_NATIVE"


class NativeMissingError(HeapwrightError):
    """A compiled part is not where it should be."""


def native_dir() -> Path:
    """The folder with `lib/`, `bin/`, `include/` and `catalogue/`."""
    return _found(os.environ.get(VARIABLE) or "")


@cache
def _found(named: str) -> Path:
    """Looked for once: every run asks for it."""
    folder = Path(named) if named else Path(__file__).resolve().parent.parent / "native"
    if not (folder / "bin").is_dir():
        hint = f"{VARIABLE} names it" if named else f"install the package, or set {VARIABLE}"
        raise NativeMissingError(f"there are no compiled parts in {folder}", hint)
    return folder.resolve()


def library(name: str) -> Path:
    """The shared library of one composed allocator, by its name in the catalogue."""
    return _existing(native_dir() / "lib" / f"libheapwright-{name}.so")


def counting_library(name: str) -> Path:
    """The same allocator, built to count the interactions of threads in it (c/events.h)."""
    return _existing(native_dir() / "lib" / "counting" / f"libheapwright-{name}.so")


def witness() -> Path:
    """The library that is preloaded to prove which allocator each process used."""
    return library("witness")


def program(name: str) -> Path:
    """A program of the harness: `program("run")` is heapwright-run."""
    return _existing(native_dir() / "bin" / f"heapwright-{name}")


def workload_dir() -> Path:
    """The folder of the named workloads, one program each."""
    return native_dir() / "workloads"


def workload(name: str) -> Path:
    """The program of a named workload: `workload("larson")`."""
    return _existing(workload_dir() / name)


def _existing(path: Path) -> Path:
    if not path.is_file():
        raise NativeMissingError(f"{path} is missing", "build and install again")
    return path
