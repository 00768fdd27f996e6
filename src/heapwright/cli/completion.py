# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Completion of the command line in bash, zsh and fish.

`heapwright --completion SHELL` prints a script for the shell. At each completion that script runs
`heapwright` with the line in environment variables, and Typer answers. The names of programs,
studies and workloads are read from the catalogue at that moment.
"""

import os
from contextlib import suppress
from enum import StrEnum
from importlib import import_module

from heapwright.base.errors import HeapwrightError
from heapwright.base.shipped import shipped_folder

PROGRAM = "heapwright"
VARIABLE = "_HEAPWRIGHT_COMPLETE"


class Shell(StrEnum):
    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def script(shell: Shell) -> str:
    """The completion script for a shell."""
    text: str = import_module("typer.completion").get_completion_script(
        prog_name=PROGRAM, complete_var=VARIABLE, shell=shell.value
    )
    return text


def prepare() -> None:
    """Register the shells with Typer if a completion script has started this process."""
    if VARIABLE in os.environ:
        import_module("typer.completion").completion_init()


def programs(incomplete: str) -> list[str]:
    """The programs of the catalogue that begin like this."""
    return _in_catalogue("programs", incomplete)


def studies(incomplete: str) -> list[str]:
    """The studies of the catalogue that begin like this."""
    return _in_catalogue("studies", incomplete)


def workloads(incomplete: str) -> list[str]:
    """The installed workloads that begin like this."""
    with suppress(HeapwrightError):
        library = import_module("heapwright.artefacts.workload.library")
        return [name for name in library.workload_names() if name.startswith(incomplete)]
    return []


def _in_catalogue(kind: str, incomplete: str) -> list[str]:
    with suppress(HeapwrightError):
        files = shipped_folder(f"catalogue/{kind}", kind).glob("*.toml")
        return sorted(file.stem for file in files if file.stem.startswith(incomplete))
    return []
