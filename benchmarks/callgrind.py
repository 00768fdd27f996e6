# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Counts what a subject does, to the instruction, by callgrind; and how large its code is.

A subject is one C or C++ file that defines some of the functions of instructions/subject.h. It is
compiled separately and linked with a driver, which runs each of its cases between two calls of
`boundary`. Callgrind dumps its counts there. It collects only inside the subject's functions and
their callees. The figures are exact and repeat to the instruction on one machine with one compiler;
another compiler gives others.
"""

import argparse
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / "benchmarks"
INCLUDES = [
    f"-I{ROOT / 'include'}",
    f"-I{ROOT / 'native'}",
    f"-I{HERE}",
    f"-I{HERE / 'instructions'}",
]
FUNCTIONS = ["subjectMalloc", "subjectFree", "subjectClear", "subjectParse"]
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


def _text(objects: Sequence[Path]) -> int:
    """The bytes of code in object files."""
    out = _run(["size", "-A", *map(str, objects)], objects[0].parent)
    return sum(int(n) for n in re.findall(r"^\.text\S*\s+(\d+)", out, re.MULTILINE))


@dataclass(frozen=True)
class Counted:
    """Instructions per unit for each of the driver's cases, by its name, and the code's size."""

    cases: dict[str, float]
    text: int


def count(
    compiler: Compiler,
    optimisation: str,
    subject: Path,
    driver: str = "driver.c",
    library: Sequence[Path] = (),
) -> Counted:
    """Counts a subject under a driver of instructions/; `library` is what the subject calls."""
    with tempfile.TemporaryDirectory(prefix="heapwright-counts-") as name:
        work = Path(name)
        _compile(compiler, optimisation, HERE / "instructions" / driver, work / "driver.o")
        _compile(compiler, optimisation, subject, work / "subject.o")
        for source in library:
            _compile(compiler, optimisation, source, work / f"library-{source.stem}.o")
        objects = sorted(map(str, work.glob("*.o")))
        _run([compiler.cxx, *objects, "-pthread", "-o", str(work / "driver")], work)
        callgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={work / 'counts'}"]
        callgrind += ["--dump-before=boundary", "--separate-threads=no"]
        callgrind += [f"--toggle-collect={function}" for function in FUNCTIONS]
        printed = _run([*callgrind, str(work / "driver")], work)
        # A dump at the first boundary holds the warm-ups, the dump at the second the case itself.
        totals = _totals(work)[1::2]
        text = _text([work / "subject.o"])
    cases = [line.rsplit(" ", 1) for line in printed.splitlines()]
    if len(cases) != len(totals):
        raise SystemExit(f"callgrind dumped {len(totals)} cases of {len(cases)}")
    pairs = zip(cases, totals, strict=True)
    return Counted({case: total / int(units) for (case, units), total in pairs}, text)


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

CLEAR = """
void subjectClear() {
    heap.object.clear();
}
"""


def count_composed(
    compiler: Compiler,
    optimisation: str,
    header: str,
    type_name: str,
    driver: str = "driver.c",
) -> Counted:
    """The same of a heap that is a C++ type, a constant-initialised global as in the shipped
    libraries."""
    clears = "subjectClear" in (HERE / "instructions" / driver).read_text()
    with tempfile.TemporaryDirectory(prefix="heapwright-subject-") as name:
        source = Path(name) / "subject.cpp"
        text = SUBJECT.format(header=header, type=type_name) + (CLEAR if clears else "")
        source.write_text(text)
        return count(compiler, optimisation, source, driver)


def arguments(doc: str | None) -> argparse.ArgumentParser:
    """What the scripts that count all understand."""
    parser = argparse.ArgumentParser(description=(doc or "").splitlines()[0])
    parser.add_argument("--compiler", choices=["g++", "clang++"], help="only this one")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    return parser
