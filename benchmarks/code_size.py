# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The size of the code of every composed allocator, as its library is installed.

For each library the table has the machine instructions (`.text`), the constants (`.rodata`), and
the memory that starts as zero bytes (`.bss`). A process uses only the pages of it that it writes.
`size` of binutils reads the sections. Every library also contains the same entry points of malloc.
The table is in Markdown, the smallest code first; `--csv` prints the same as CSV.
"""

import argparse
import csv
import shutil
import subprocess
import sys
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from heapwright.artefacts.allocator.catalogue import read_catalogue
from heapwright.base.native import library

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Size:
    """The sections of one library, in bytes."""

    allocator: str
    text: int
    rodata: int
    bss: int


def size_of(name: str) -> Size:
    """Read the sections of the library of a composition."""
    command = ["size", "-A", "-d", str(library(name))]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in printed.splitlines()]
    sections = {row[0]: int(row[1]) for row in rows if len(row) == 3 and row[1].isdigit()}
    found = (sections.get(section, 0) for section in (".text", ".rodata", ".bss"))
    return Size(name, *found)


def sizes() -> list[Size]:
    """All compositions of the catalogue, the smallest code first."""
    catalogue = read_catalogue(ROOT / "catalogue" / "allocators.toml")
    found = [size_of(entry.name) for entry in catalogue.composed]
    return sorted(found, key=lambda size: (size.text, size.allocator))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--csv", action="store_true", help="print CSV")
    options = parser.parse_args()
    if shutil.which("size") is None:
        print("code_size: no size (package binutils)", file=sys.stderr)
        return 2
    if options.csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow([field.name for field in fields(Size)])
        writer.writerows(astuple(size) for size in sizes())
        return 0
    print("| allocator | code, bytes | constants, bytes | zero at start, KiB |")
    print("|---|---|---|---|")
    for size in sizes():
        print(f"| `{size.allocator}` | {size.text:,} | {size.rodata:,} | {size.bss / 1024:,.0f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
