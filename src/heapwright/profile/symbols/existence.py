# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Whether any of some files defines a function.

A profile names only functions that allocated. A function that never allocates and a misspelt name
look alike there. The symbol tables tell them apart.
"""

from collections.abc import Callable, Iterable
from pathlib import Path

from heapwright.artefacts.profile.calls import CodeObject
from heapwright.profile.symbols import elf_symbols, objects
from heapwright.profile.symbols.demangler import demangled


def defines(files: Iterable[Path], matches: Callable[[str], bool], part: str) -> bool:
    """Whether a file has a function that `matches`; its mangled name contains `part`."""
    for path in files:
        build = objects.build_id(path)
        if build is None:
            continue
        symbols = elf_symbols.read(objects.find(CodeObject(path=str(path), build_id=build)).files)
        names = [name for name in set(symbols.names) if part in name]
        if any(map(matches, names)) or any(map(matches, demangled(names).values())):
            return True
    return False
