# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The native part of an installation is small, and has no symbols for a debugger."""

from pathlib import Path

from elftools.elf.elffile import ELFFile

from support.elf_versions import elf_files

LARGEST_MB = 32
"""It had 29.0 MB on 2026-11-28. docs/how-to/install.md states the sizes, so change both."""


def test_the_native_part_stays_small(native: Path) -> None:
    sizes = {
        file: file.lstat().st_size
        for file in native.rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    largest = sorted(sizes, key=lambda file: sizes[file])[-5:]
    assert 10e6 < sum(sizes.values()) < LARGEST_MB * 1e6, largest


def test_no_file_has_symbols_for_a_debugger(native: Path) -> None:
    files = elf_files(native)
    assert len(files) > 100
    for file in files:
        with file.open("rb") as opened:
            sections = [section.name for section in ELFFile(opened).iter_sections()]
        assert not [name for name in sections if name.startswith((".debug", ".zdebug"))], file
