# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A program of this machine with all libraries that it loads, as ldd names them."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from heapwright.base.errors import HeapwrightError
from heapwright.kernel.archive import Entry, regular

NAMED = re.compile(r"^\s*(?:\S+ => )?(/\S+) \(0x[0-9a-f]+\)$")
MISSING = re.compile(r"^\s*(\S+) => not found")


def parse_ldd(text: str) -> list[str]:
    """The paths that ldd names. Raises HeapwrightError for a library that is not found."""
    paths = []
    for line in text.splitlines():
        if match := MISSING.match(line):
            raise HeapwrightError(f"the library {match[1]} is not found", "install its package")
        if match := NAMED.match(line):
            paths.append(match[1])
    return paths


def find_program(name: str, package: str) -> Path:
    """Raises HeapwrightError that says what to install."""
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")
    if found is None:
        raise HeapwrightError(f"there is no program {name}", f"sudo apt-get install {package}")
    return Path(found)


def with_libraries(programs: Sequence[tuple[Path, str]]) -> dict[str, Entry]:
    """Programs at their places in the guest, and their libraries where the loader looks."""
    entries: dict[str, Entry] = {}
    for path, place in programs:
        entries[place] = regular(path.read_bytes())
        done = subprocess.run(["ldd", path], capture_output=True, text=True, check=False)
        for library in parse_ldd(done.stdout):
            entries[library.lstrip("/")] = regular(Path(library).read_bytes())
    return entries
