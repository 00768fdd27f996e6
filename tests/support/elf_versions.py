# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Which versions of libraries a compiled file needs."""

from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection

Number = tuple[int, ...]


def needed_versions(file: Path) -> dict[str, set[Number]]:
    """The versions of each family, such as GLIBC; none for a static program or an object file."""
    found: dict[str, set[Number]] = {}
    with file.open("rb") as opened:
        section = ELFFile(opened).get_section_by_name(".gnu.version_r")
        needs = section.iter_versions() if isinstance(section, GNUVerNeedSection) else ()
        for _, auxiliaries in needs:
            for each in auxiliaries:
                family, _, number = each.name.partition("_")
                found.setdefault(family, set()).add(tuple(map(int, number.split("."))))
    return found


def elf_files(folder: Path) -> dict[Path, str]:
    """The programs and libraries below a folder, each with its machine."""
    found: dict[Path, str] = {}
    for file in sorted(folder.rglob("*")):
        if file.is_file() and file.read_bytes()[:4] == b"\x7fELF":
            with file.open("rb") as opened:
                found[file] = ELFFile(opened)["e_machine"]
    return found
