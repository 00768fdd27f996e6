# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What heap profilers add to a program, in instructions: Heapwright's and those of others.

Callgrind counts two programs, in C and in Python, at two lengths. The difference is the cost of one
round, without start and end of the program. A profiler that is a part of an allocator is compared
with the same allocator without it. Callgrind counts the program's process only. What a tool does in
other processes or afterwards is not included.

Usage: profilers.py [--memray PYTHON] [--only TEXT] [--language C|Python] [--csv FILE]

`--memray` names an interpreter that has the package memray; `--only` runs the rows whose name
contains a text. `--csv` appends the raw counts to a file, and the table has the earlier rows of the
file too. Needs the installed tool, valgrind, gcc, heaptrack, libgoogle-perftools4 and libjemalloc2.
"""

import argparse
import csv
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from heapwright.base import native

HEAPTRACK = "/usr/lib/heaptrack/libheaptrack_preload.so"
LOADER = "/lib64/ld-linux-x86-64.so.2"
JEMALLOC = "libjemalloc.so.2"
TCMALLOC = "libtcmalloc.so.4"
MEAN = 512 << 10
PROGRAM = """
#include <stdlib.h>
static void* blocks[1000];
static unsigned state = 1;
static unsigned draw(void) { return state = state * 1664525u + 1013904223u; }
__attribute__((noinline)) static void* at_depth(int depth, size_t bytes) {
    void* volatile block = depth == 0 ? malloc(bytes) : at_depth(depth - 1, bytes);
    return block;
}
int main(int count, char** words) {
    free(malloc(64 << 20)); /* TCMalloc's first sample comes after 16 MiB */
    for (long i = count > 1 ? atol(words[1]) : 0; i > 0; --i) {
        void** const place = &blocks[draw() / 4096 % 1000];
        free(*place);
        *place = at_depth(8, 16 + draw() / 4096 % 512);
    }
    return 0;
}
"""
SCRIPT = """
import json, sys
record = {"name": "x" * 40, "values": list(range(20)), "more": {str(i): i for i in range(10)}}
kept = [None] * 50
for i in range(int(sys.argv[1])):
    kept[i % 50] = json.loads(json.dumps(record))
"""
LENGTHS = {"C": (5_000, 55_000), "Python": (100, 600)}
"""A round of C is one malloc and one free. A round of Python writes and reads one record."""
COLLECTED = re.compile(r"Collected *: *(\d+)")


@dataclass(frozen=True, slots=True)
class Row:
    """A profiler, and the same program without it."""

    name: str
    variables: Mapping[str, str] = field(default_factory=dict)
    before: Sequence[str] = ()
    """Words before valgrind."""
    preload: str = ""
    """Of the counted process only: heaptrack removes `LD_PRELOAD` in the launcher of valgrind."""
    memray: Sequence[str] = ()
    """Its words behind the interpreter."""
    base: str = "glibc"
    languages: Sequence[str] = ("C", "Python")


def rows(folder: Path, memray: str | None) -> Iterator[Row]:
    sampler = {
        "LD_PRELOAD": str(native.library("sampler")),
        "HEAPWRIGHT_SAMPLE": str(MEAN),
        "HEAPWRIGHT_SAMPLE_FILE": str(folder / "of"),
    }
    granary = {"LD_PRELOAD": str(native.library("granary"))}
    within = {
        "LD_PRELOAD": str(native.library("granary-sampled")),
        "HEAPWRIGHT_GRANARY": f"sample={MEAN}",
        "HEAPWRIGHT_SAMPLE_FILE": str(folder / "of"),
    }
    jemalloc = {"LD_PRELOAD": JEMALLOC}
    tcmalloc = {"LD_PRELOAD": TCMALLOC}
    profiled = f"prof:true,lg_prof_sample:19,prof_prefix:{folder}/je"
    yield Row("glibc")
    yield Row("heapwright, sampled at 512 KiB", sampler)
    yield Row("heapwright, every call with its stack", before=recorder(folder))
    yield Row(
        "heaptrack",
        {"DUMP_HEAPTRACK_OUTPUT": str(folder / "heaptrack")},
        preload=HEAPTRACK,
    )
    if memray is not None:
        words = ("-m", "memray", "run", "-q", "-f", "-o", str(folder / "memray"))
        yield Row("memray", memray=words, languages=("Python",))
        yield Row("memray --native", memray=(*words, "--native"), languages=("Python",))
    yield Row("granary", granary, base="granary")
    yield Row("granary-sampled, at 512 KiB", within, base="granary")
    yield Row("jemalloc", jemalloc, base="jemalloc")
    yield Row(
        "jemalloc, sampled at 512 KiB", {**jemalloc, "MALLOC_CONF": profiled}, base="jemalloc"
    )
    yield Row("TCMalloc", tcmalloc, base="TCMalloc")
    yield Row(
        "TCMalloc, sampled at 512 KiB",
        {**tcmalloc, "TCMALLOC_SAMPLE_PARAMETER": str(MEAN)},
        base="TCMalloc",
    )
    yield Row(
        "TCMalloc, heap profiler", {**tcmalloc, "HEAPPROFILE": str(folder / "tc")}, base="TCMalloc"
    )


def recorder(folder: Path) -> list[str]:
    program, library = str(native.program("record")), str(native.library("recorder"))
    options = ["--trace", str(folder / "trace"), "--preload", library, "--no-system", "--stacks"]
    return [program, *options, "--"]


def instructions(row: Row, command: Sequence[str]) -> int:
    tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    loader = [LOADER, "--preload", row.preload] if row.preload else []
    words = [*row.before, *tool, *loader, *command]
    environment = {**os.environ, "PYTHONMALLOC": "malloc", "PYTHONHASHSEED": "0", **row.variables}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    found = COLLECTED.findall(done.stderr)
    if done.returncode != 0 or not found:
        raise SystemExit(f"{row.name}: {' '.join(words)}\n{done.stderr[-2000:]}")
    return max(map(int, found))


def counted(row: Row, language: str, folder: Path, python: str) -> tuple[int, int]:
    """The instructions at both lengths."""
    program = [str(folder / "loop")]
    if language == "Python":
        program = [python, *row.memray, str(folder / "load.py")]
    few, many = (instructions(row, [*program, str(length)]) for length in LENGTHS[language])
    return few, many


def prepare(folder: Path) -> None:
    (folder / "loop.c").write_text(PROGRAM, encoding="utf-8")
    (folder / "load.py").write_text(SCRIPT, encoding="utf-8")
    words = ["gcc", "-O1", "-fno-builtin", "loop.c", "-o", "loop"]
    subprocess.run(words, cwd=folder, check=True)


def earlier(file: Path) -> Iterator[tuple[tuple[str, str], float]]:
    """The instructions of a round, by row and language."""
    with file.open(encoding="utf-8", newline="") as lines:
        for name, language, *counts in csv.reader(lines):
            short, long, few, many = map(int, counts)
            yield (name, language), (many - few) / (long - short)


def show(each: Mapping[tuple[str, str], float], chosen: Sequence[Row]) -> None:
    print("| profiler | C: malloc and free | more | Python: a record | more |")
    print("|---|---|---|---|---|")
    for row in chosen:
        cells = []
        for language in LENGTHS:
            cost, base = each.get((row.name, language)), each.get((row.base, language))
            cells += ["" if cost is None else f"{cost:,.0f}"]
            if cost is None or base is None or row.name == row.base:
                cells.append("")
            else:
                cells.append(f"{cost - base:+,.0f}, {cost / base:.2f} times")
        print(f"| {row.name} | {' | '.join(cells)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--memray", help="an interpreter that has memray")
    parser.add_argument("--only", default="", help="rows whose name contains this")
    parser.add_argument("--language", choices=LENGTHS, help="only this program")
    parser.add_argument("--csv", type=Path, help="append the raw counts to this file")
    options = parser.parse_args()
    python = options.memray or "/usr/bin/python3"
    each: dict[tuple[str, str], float] = {}
    with tempfile.TemporaryDirectory(prefix="heapwright-") as name:
        folder = Path(name)
        prepare(folder)
        if options.csv is not None and options.csv.exists():
            each.update(earlier(options.csv))
        chosen = [row for row in rows(folder, options.memray) if options.only in row.name]
        for row in chosen:
            for language in row.languages:
                if options.language not in (None, language):
                    continue
                few, many = counted(row, language, folder, python)
                length = LENGTHS[language]
                each[row.name, language] = (many - few) / (length[1] - length[0])
                print(f"{row.name}, {language}: {few:,} {many:,}", file=sys.stderr)
                if options.csv is not None:
                    with options.csv.open("a", encoding="utf-8", newline="") as file:
                        csv.writer(file, lineterminator="\n").writerow(
                            [row.name, language, *length, few, many]
                        )
        show(each, [row for row in rows(folder, "") if any(row.name == key[0] for key in each)])


if __name__ == "__main__":
    main()
