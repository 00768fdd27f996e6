# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The version of the mimalloc that a process has mapped.

The layout of its heap differs by version. The function `mi_version` of the library returns the
number as a constant, so the number is in the function's first instruction.
"""

import re
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from heapwright.artefacts.run.serving import allocator_in_use
from heapwright.base.paths import below
from heapwright.look.process import PROC

NAME = "mimalloc"
FUNCTION = "mi_version"
RETURNS = re.compile(rb"(?:\xf3\x0f\x1e\xfa)?\xb8(....)\xc3", re.DOTALL)
"""`mov eax, NUMBER; ret`, maybe behind `endbr64`."""
CODE_BYTES = 10
TWO_DIGITS = 1000
"""Numbers from here on have two digits for each part: 20302 is 2.3.2, and 209 is 2.0.9."""


def mapped_version(pid: int, proc: Path = PROC) -> int:
    """The number of the version; 0 if the process has no such library, or it does not say."""
    process = proc / str(pid)
    try:
        text = (process / "maps").read_bytes().decode("utf-8", "surrogateescape")
    except OSError:
        return 0
    lines = (line.split(maxsplit=5) for line in text.split("\n"))
    paths = [each[5] for each in lines if len(each) == 6 and each[5].startswith("/")]
    named = dict.fromkeys(each for each in paths if allocator_in_use([each]) == NAME)
    versions = (version_in(below(process / "root", each)) for each in named)
    return next((each for each in versions if each), 0)


def version_in(file: Path) -> int:
    """The number that a library returns as its version; 0 if it is not readable."""
    try:
        with file.open("rb") as opened:
            elf = ELFFile(opened)
            place = _place_of(elf, FUNCTION)
            if place is None:
                return 0
            opened.seek(place)
            code = opened.read(CODE_BYTES)
    except (OSError, ELFError, ValueError, KeyError):
        return 0
    found = RETURNS.match(code)
    return 0 if found is None else int.from_bytes(found[1], "little")


def spelled(version: int) -> str:
    """As people write it."""
    step = 10 if version < TWO_DIGITS else 100
    return f"{version // step**2}.{version // step % step}.{version % step}"


def _place_of(elf: ELFFile, name: str) -> int | None:
    """The place of a function in its file."""
    table = elf.get_section_by_name(".dynsym")
    if not isinstance(table, SymbolTableSection):
        return None
    symbols = table.get_symbol_by_name(name)
    address = symbols[0]["st_value"] if symbols else 0
    for each in elf.iter_segments("PT_LOAD"):
        if each["p_vaddr"] <= address < each["p_vaddr"] + each["p_filesz"]:
            return int(address - each["p_vaddr"] + each["p_offset"])
    return None
