#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Compare the binary interface of libheapwright-c with the committed one, or write that one anew.

    scripts/abi.py          compares; exits with 1 and the report of abidiff if they differ
    scripts/abi.py --write  writes tests/native/capi/abi.xml after an intended change

The interface is what abidw (package abigail-tools) finds in the debug information. It has the
exported symbols with their version, the types of their parameters, and the structures of the
headers. The page docs/reference/versions.md says which changes need a new version.
"""

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "native" / "capi"
EXPORTS = SOURCES / "exports.map"
HEADERS = ROOT / "include" / "heapwright" / "c"
COMMITTED = ROOT / "tests" / "native" / "capi" / "abi.xml"

COMPILE = ["-g", "-O0", "-fPIC", "-Inative", "-Iinclude", "-c"]
CXX = ["g++", "-std=c++20", "-fno-exceptions", "-fno-rtti"]
C = ["gcc", "-std=gnu11"]
# What would differ on the next machine, or without a change of the interface.
DESCRIBE = [
    *("--drop-private-types", "--exported-interfaces-only", "--no-parameter-names"),
    *("--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", "--no-elf-needed"),
    *("--type-id-style", "hash"),
]


def output(command: Sequence[str | Path]) -> str:
    """What a command prints that must succeed."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def compile_objects(folder: Path, include: Path | None = None, only: str = "*") -> list[Path]:
    """The object files with debug information; headers in `include` replace those of the tree."""
    first = [] if include is None else [f"-I{include}"]
    objects = []
    for source in sorted([*SOURCES.glob(f"{only}.c"), *SOURCES.glob(f"{only}.cpp")]):
        compiler = C if source.suffix == ".c" else CXX
        objects.append(folder / f"{source.stem}.o")
        # A relative path, because the description contains it.
        name = source.relative_to(ROOT)
        output([*compiler, *first, *COMPILE, name, "-o", objects[-1]])
    return objects


def link(objects: Sequence[Path], library: Path, exports: Path = EXPORTS) -> Path:
    """The shared library that exports the names of a version script."""
    script = f"-Wl,--version-script={exports}"
    name = "-Wl,-soname,libheapwright-c.so"
    output(["gcc", "-shared", script, name, "-Wl,-z,defs", *objects, "-o", library])
    return library


def describe(library: Path, headers: Path = HEADERS) -> str:
    """The interface as abidw finds it. Structures that no header there defines are opaque."""
    return output(["abidw", "--headers-dir", headers, *DESCRIBE, library])


def difference(library: Path, headers: Path = HEADERS) -> str:
    """How a library differs from the committed interface, in the words of abidiff; or nothing."""
    present = library.with_suffix(".xml")
    present.write_text(describe(library, headers), encoding="utf-8")
    command = ["abidiff", str(COMMITTED), str(present)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    # The bits 1 and 2 of the status are errors of the program, 4 and 8 are differences.
    if done.returncode & 3:
        raise RuntimeError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout if done.returncode else ""


def main(arguments: Sequence[str]) -> int:
    if list(arguments) not in ([], ["--write"]):
        sys.stderr.write("usage: scripts/abi.py [--write]\n")
        return 2
    with tempfile.TemporaryDirectory() as folder:
        library = link(compile_objects(Path(folder)), Path(folder) / "libheapwright-c.so")
        if arguments:
            COMMITTED.write_text(describe(library), encoding="utf-8")
            return 0
        report = difference(library)
    sys.stdout.write(report)
    return 1 if report else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
