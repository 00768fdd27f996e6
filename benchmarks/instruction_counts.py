# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Exact instructions per malloc+free pair, by callgrind; by itself, of every composed allocator.

A subject is one C or C++ file that defines `subjectMalloc` and `subjectFree` (see
instructions/subject.h). It is compiled by itself and linked with instructions/driver.c, which runs
each case between two calls of `boundary`; callgrind dumps its counts there and collects only inside
the subject's two functions. The figures are exact and repeat to the instruction on one machine with
one compiler; another compiler gives others. `--golden` prints them as
tests/golden/instruction_counts.toml keeps them.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / "benchmarks"
INCLUDES = [f"-I{ROOT / 'include'}", f"-I{ROOT}", f"-I{HERE}", f"-I{HERE / 'instructions'}"]
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"]


@dataclass(frozen=True)
class Compiler:
    """A C compiler and the C++ compiler of the same release: one optimiser for both sides."""

    cc: str
    cxx: str

    @property
    def name(self) -> str:
        return "clang++" if "clang" in self.cxx else "g++"

    @property
    def version(self) -> str:
        out = subprocess.run([self.cxx, "--version"], capture_output=True, text=True, check=True)
        return out.stdout.splitlines()[0]


def compilers(only: str | None = None) -> list[Compiler]:
    """The compilers found here, g++ first; `only` the one of that name (g++ or clang++)."""
    names = {"g++": [("gcc", "g++")], "clang++": [("clang", "clang++"), ("clang-14", "clang++-14")]}
    found = []
    for name, pairs in names.items():
        here = [Compiler(*pair) for pair in pairs if all(map(shutil.which, pair))]
        if only in (None, name):
            found += here[:1]
    return found


def missing(only: str | None = None) -> str | None:
    """What is needed and not here, as one sentence; None if all is."""
    if shutil.which("valgrind") is None:
        return "valgrind is not installed (package valgrind)"
    if not compilers(only):
        return f"no {only or 'C++ compiler'} with its C compiler (packages g++ and clang-14)"
    return None


def _run(command: list[str], cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}\nexit status {done.returncode}\n{done.stderr}")
    return done.stdout


def _compile(compiler: Compiler, optimisation: str, source: Path, target: Path) -> None:
    driver, standard = (
        (compiler.cc, "-std=gnu11") if source.suffix == ".c" else (compiler.cxx, "-std=c++20")
    )
    flags = [standard, f"-O{optimisation}", "-fPIC", *WARNINGS, *INCLUDES]
    _run([driver, *flags, "-c", str(source), "-o", str(target)], target.parent)


def _totals(directory: Path) -> list[int]:
    """The counts that each dump collected, in the order of the dumps."""
    parts: list[tuple[int, int]] = []
    for path in directory.glob("counts.*"):
        text = path.read_text()
        number = re.search(r"^part: (\d+)", text, re.MULTILINE)
        total = re.search(r"^totals: (\d+)", text, re.MULTILINE)
        if number and total:
            parts.append((int(number[1]), int(total[1])))
    return [total for _, total in sorted(parts)]


def count(compiler: Compiler, optimisation: str, subject: Path) -> dict[str, float]:
    """Instructions per malloc+free pair for each of the driver's cases, by its name."""
    with tempfile.TemporaryDirectory(prefix="heapwright-counts-") as name:
        work = Path(name)
        _compile(compiler, optimisation, HERE / "instructions" / "driver.c", work / "driver.o")
        _compile(compiler, optimisation, subject, work / "subject.o")
        objects = [str(work / "driver.o"), str(work / "subject.o")]
        _run([compiler.cxx, *objects, "-pthread", "-o", str(work / "driver")], work)
        callgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={work / 'counts'}"]
        callgrind += ["--dump-before=boundary", "--separate-threads=no"]
        callgrind += ["--toggle-collect=subjectMalloc", "--toggle-collect=subjectFree"]
        printed = _run([*callgrind, str(work / "driver")], work)
        # A dump at the first boundary holds the warm-ups, the dump at the second the case itself.
        totals = _totals(work)[1::2]
    cases = [line.rsplit(" ", 1) for line in printed.splitlines()]
    if len(cases) != len(totals):
        raise SystemExit(f"callgrind dumped {len(totals)} cases of {len(cases)}")
    return {case: total / int(pairs) for (case, pairs), total in zip(cases, totals, strict=True)}


SUBJECT = """\
#include "subject.h"
#include <heapwright/core/immortal.hpp>
#include <{header}>

namespace {{
constinit heapwright::Immortal<{type}> heap;
}}

void* subjectMalloc(size_t size) {{
    return heap.object.malloc(size);
}}

void subjectFree(void* object) {{
    heap.object.free(object);
}}
"""


def count_composed(
    compiler: Compiler, optimisation: str, header: str, type_name: str
) -> dict[str, float]:
    """The same of a heap that is a C++ type, a constant-initialised global as in our libraries."""
    with tempfile.TemporaryDirectory(prefix="heapwright-subject-") as name:
        source = Path(name) / "subject.cpp"
        source.write_text(SUBJECT.format(header=header, type=type_name))
        return count(compiler, optimisation, source)


def catalogue() -> list[tuple[str, str, str]]:
    """Name, header and type of every composed allocator, from the registry."""
    with (ROOT / "allocators" / "catalogue.toml").open("rb") as file:
        entries = tomllib.load(file)["composed"]
    return [(entry["name"], entry["header"], entry["type"]) for entry in entries]


def arguments(doc: str | None) -> argparse.ArgumentParser:
    """What this script and layers_cost_nothing.py both understand."""
    parser = argparse.ArgumentParser(description=(doc or "").splitlines()[0])
    parser.add_argument("--compiler", choices=["g++", "clang++"], help="only this one")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    return parser


Counts = dict[str, dict[str, float]]


def show(compiler: Compiler, optimisation: str, counts: Counts) -> None:
    print(f"{compiler.version}, -O{optimisation}: instructions per malloc+free pair")
    print("".join([f"  {'case':34}", *(f"{name:>21}" for name in counts)]))
    for case in next(iter(counts.values())):
        print("".join([f"  {case:34}", *(f"{cases[case]:21.2f}" for cases in counts.values())]))
    print()


def show_golden(compiler: Compiler, counts: Counts) -> None:
    print(f'\n["{compiler.name}"]\nversion = "{compiler.version}"')
    for name, cases in counts.items():
        print(f'\n["{compiler.name}".counts.{name}]')
        for case, figure in cases.items():
            print(f'"{case}" = {figure:.2f}')


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--golden", action="store_true", help="print TOML")
    parser.add_argument("-O", dest="optimisation", default="2", help="optimisation level (2)")
    options = parser.parse_args()
    if (lacking := missing(options.compiler)) is not None:
        print(f"instruction_counts: {lacking}", file=sys.stderr)
        return 2
    result: dict[str, Counts] = {}
    for compiler in compilers(options.compiler):
        counts = {
            name: count_composed(compiler, options.optimisation, header, type_name)
            for name, header, type_name in catalogue()
        }
        result[compiler.name] = counts
        if options.golden:
            show_golden(compiler, counts)
        elif not options.json:
            show(compiler, options.optimisation, counts)
    if options.json:
        print(json.dumps(result, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
