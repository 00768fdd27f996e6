# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What a named workload says of itself, as its program prints it for `--describe`.

The programs are the only place where this stands: what is installed in `workloads/` is there, and
nothing else is.
"""

from pathlib import Path

from pydantic import BaseModel, ConfigDict

from heapwright.base.errors import HeapwrightError
from heapwright.base.native import NativeMissingError, workload, workload_dir
from heapwright.base.spelling import nearest


class Parameter(BaseModel):
    """A number, or one of several names, that a workload can be given, as `--name N`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    value: int
    """Unless another is given."""
    least: int
    most: int
    scaled: bool
    """`--scale X` multiplies it, unless it is given itself."""
    published: str
    """As the literature has it; empty where it has none."""
    meaning: str
    choices: tuple[str, ...] = ()
    """The names, where it is one of several; the values are the places of them."""


class Workload(BaseModel):
    """A named workload."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    summary: str
    published: str
    """How to reach the published size, and whose it is."""
    threads: int
    parameters: tuple[Parameter, ...]


def workload_names() -> list[str]:
    """The workloads that are installed here."""
    folder = workload_dir()
    if not folder.is_dir():
        raise NativeMissingError(f"there are no workloads in {folder}", "build and install again")
    return sorted(path.name for path in folder.iterdir() if path.is_file())


def workload_path(name: str) -> Path:
    """The program of a workload. Raises HeapwrightError with the names that are near."""
    names = workload_names()
    if name not in names:
        hint = nearest(name, names)
        listing = "`heapwright workloads` lists them"
        raise HeapwrightError(
            f"there is no workload {name!r}", f"{hint} {listing}" if hint else listing
        )
    return workload(name)
