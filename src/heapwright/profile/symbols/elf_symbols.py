# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Function names from ELF symbol tables, by address.

pyelftools finds the tables; their rows are read as one array, for a compiler has hundreds of
thousands of them.
"""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import Section

FUNCTION_TYPES = (2, 10)  # STT_FUNC, STT_GNU_IFUNC
TABLES = (".symtab", ".dynsym")
ROW = {
    64: [
        ("name", "u4"),
        ("info", "u1"),
        ("other", "u1"),
        ("section", "u2"),
        ("value", "u8"),
        ("size", "u8"),
    ],
    32: [
        ("name", "u4"),
        ("value", "u4"),
        ("size", "u4"),
        ("info", "u1"),
        ("other", "u1"),
        ("section", "u2"),
    ],
}


@dataclass(frozen=True, slots=True)
class Symbols:
    """Functions by where they begin; `ends` may be 0, where the table does not say."""

    begins: list[int]
    ends: list[int]
    names: list[str]

    def at(self, address: int) -> str | None:
        """The function that an address lies in. One of unknown size ends where the next begins."""
        place = bisect_right(self.begins, address) - 1
        if place < 0:
            return None
        end = self.ends[place]
        return self.names[place] if end == 0 or address < end else None


def read(files: Iterable[Path]) -> Symbols:
    """The functions of all these files, one for each address; the first file's names hold."""
    found: dict[int, tuple[int, str]] = {}
    for file in files:
        for begin, end, name in _functions(file):
            known = found.get(begin)
            if known is None or (known[0] == 0 and end != 0):
                found[begin] = (end, name)
    begins = sorted(found)
    return Symbols(
        begins, [found[begin][0] for begin in begins], [found[begin][1] for begin in begins]
    )


def _functions(path: Path) -> list[tuple[int, int, str]]:
    try:
        with path.open("rb") as file:
            elf = ELFFile(file)
            for table in TABLES:
                section = elf.get_section_by_name(table)
                if section is not None and section["sh_type"] != "SHT_NOBITS":
                    rows = _rows(elf, section)
                    if rows:
                        return rows
    except (OSError, ELFError, ValueError):
        pass
    return []


def _rows(elf: ELFFile, section: Section) -> list[tuple[int, int, str]]:
    order = "<" if elf.little_endian else ">"
    kind = np.dtype([(name, order + form) for name, form in ROW[elf.elfclass]])
    content = section.data()
    rows = np.frombuffer(content[: len(content) // kind.itemsize * kind.itemsize], kind)
    functions = rows[np.isin(rows["info"] & 15, FUNCTION_TYPES) & (rows["section"] != 0)]
    names = elf.get_section(section["sh_link"]).data()
    return [
        (int(row["value"]), int(row["value"] + row["size"]) if row["size"] else 0, name)
        for row in functions
        if (name := _name(names, int(row["name"])))
    ]


def _name(names: bytes, begin: int) -> str:
    end = names.find(b"\0", begin)
    return names[begin : end if end >= 0 else len(names)].decode("utf-8", "replace")
