# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Why a process did not load a preloaded library, found from the file of its program.

This is for programs that have run. The command itself is checked before it runs (`command_check`).
"""

import stat
from enum import StrEnum
from functools import cache
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from heapwright.experiment.command_check import (
    GO_SECTION,
    LOADER_NAMES,
    Machine,
    has_capabilities,
    loader_of,
)


class Obstacle(StrEnum):
    """The reason why a process does not load a library."""

    STATIC = "static"
    PRIVILEGED = "privileged"
    OTHER_MACHINE = "other-machine"
    OTHER_C_LIBRARY = "other-c-library"


@cache
def obstacle_of(executable: Path, machine: Machine) -> Obstacle | None:
    """The obstacle that the program's file shows; None: none, or the file cannot be read."""
    try:
        mode = executable.stat().st_mode
        with executable.open("rb") as file:
            elf = ELFFile(file)
            found = Machine(elf.elfclass, elf.get_machine_arch())
            loader = loader_of(elf)
    except (ELFError, OSError, ValueError, UnicodeDecodeError):
        return None
    if mode & (stat.S_ISUID | stat.S_ISGID) or has_capabilities(executable):
        return Obstacle.PRIVILEGED
    if found != machine:
        return Obstacle.OTHER_MACHINE
    if loader is None:
        return Obstacle.STATIC
    return None if Path(loader).name.startswith(LOADER_NAMES) else Obstacle.OTHER_C_LIBRARY


@cache
def is_go_program(executable: Path) -> bool:
    """Whether Go's linker made it. False for a file that cannot be read."""
    try:
        with executable.open("rb") as file:
            return ELFFile(file).get_section_by_name(GO_SECTION) is not None
    except (ELFError, OSError, ValueError, UnicodeDecodeError):
        return False
