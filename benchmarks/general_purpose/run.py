# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Kingsley, Kingsley with coalescing and Lea on programs of today, beside the published figures.

E. D. Berger (2002), table 4.2, ran six memory-intensive programs over compositions of heap layers.
This runs `heapwright compare` on five programs of a present distribution and on one that hardly
allocates. It computes each effect from the recorded runs and reports whether its direction still
holds. The answer is yes or no if the 95 % interval is on one side of 1, else "cannot be told".

    python benchmarks/general_purpose/run.py [-n BLOCKS] [-o FOLDER] [--from FOLDER]

Run it with the environment that has the tool (`.venv/bin/python`). FOLDER gets the documents of the
comparisons; `--from` analyses such a folder again without running anything. Prints Markdown. Beside
the times stand the instructions that each program executes (instructions.py).
"""

import argparse
import csv
import math
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import instructions
from heapwright.analysis.analyse import analyse, settings_of
from heapwright.artefacts.comparison.document import Comparison, Effect, Response

HERE = Path(__file__).parent
WORK = HERE.parents[1] / "catalogue" / "studies" / "programs"
"""The scripts that the programs run, which the study berger-2002-general has too."""
Counts = dict[str, dict[str, int]]
"""Instructions by program and allocator."""

ALLOCATORS = ("lea", "kingsley", "kingsley-coalescing", "glibc")

GHOSTSCRIPT = (
    "gs -q -dNOPAUSE -dBATCH -sDEVICE=pgmraw -r72 -drounds=20 -sOutputFile=/dev/null figures.ps"
)
COMPILE = (
    "g++ -std=c++20 -O2 -I../../../include -I../../../native "
    "-c ../../../native/runner/run/accounts.cpp -o /dev/null"
)


@dataclass(frozen=True)
class Program:
    """A program and its work; `{data}` in the command is a file of text made for it."""

    name: str
    package: str
    command: tuple[str, ...]


PROGRAMS = (
    Program("perl", "perl", ("perl", "words.pl", "3")),
    Program("lua", "lua5.4", ("lua5.4", "trees.lua", "16")),
    Program("gawk", "gawk", ("gawk", "-v", "rounds=5", "-f", "records.awk")),
    Program("ghostscript", "ghostscript", tuple(GHOSTSCRIPT.split())),
    Program("g++", "g++", tuple(COMPILE.split())),
    Program("xz (control)", "xz-utils", ("xz", "-2", "-T1", "-k", "-c", "{data}")),
)


@dataclass(frozen=True)
class Claim:
    """One allocator against another in one response, and which way it went in 2002."""

    text: str
    allocator: str
    against: str
    response: Response
    below_one: bool

    @property
    def column(self) -> str:
        return {"time": "runtime_s", "memory": "memory_bytes"}[self.response]


CLAIMS = (
    Claim("Kingsley is faster than Lea", "kingsley", "lea", "time", below_one=True),
    Claim("Kingsley needs more memory than Lea", "kingsley", "lea", "memory", below_one=False),
    Claim(
        "coalescing makes Kingsley leaner",
        "kingsley-coalescing",
        "kingsley",
        "memory",
        below_one=True,
    ),
    Claim(
        "coalescing makes Kingsley slower",
        "kingsley-coalescing",
        "kingsley",
        "time",
        below_one=False,
    ),
    Claim(
        "Kingsley with coalescing is slower than Lea",
        "kingsley-coalescing",
        "lea",
        "time",
        below_one=False,
    ),
)


def published(claim: Claim) -> dict[str, float]:
    """The ratio of a claim for each of the published programs."""
    with (HERE / "published.csv").open() as file:
        rows = {
            (row["program"], row["allocator"]): float(row[claim.column])
            for row in csv.DictReader(file)
        }
    programs = dict.fromkeys(program for program, _ in rows)
    return {p: rows[p, claim.allocator] / rows[p, claim.against] for p in programs}


def geometric_mean(values: list[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def make_data(folder: Path) -> Path:
    """A text of 24 MB for the control: the same every time, neither random nor repetitive."""
    data = folder / "data.txt"
    state = 2002
    with data.open("w") as file:
        for _ in range(400_000):
            state = (state * 1103515245 + 12345) & 0x7FFFFFFF
            file.write(
                f"{state >> 8:08d} line of {state % 977} words and {state % 31} more, {state % 7}\n"
            )
    return data


def measure(command: list[str], blocks: int, target: Path) -> None:
    tool = Path(sys.executable).parent / "heapwright"
    compare = [str(tool), "compare", "-n", str(blocks), "-a", ",".join(ALLOCATORS)]
    compare += ["--baseline", "lea", "--json", str(target), "--", *command]
    subprocess.run(compare, cwd=WORK, check=True, stdout=subprocess.DEVNULL)


def count(command: list[str], target: Path) -> None:
    if (lacking := instructions.missing()) is not None:
        print(f"general_purpose: instructions are not counted: {lacking}", file=sys.stderr)
        return
    found = {name: instructions.count(command, name, WORK) for name in ALLOCATORS}
    instructions.save(target, found)


def file_of(folder: Path, program: Program) -> Path:
    return folder / f"{program.name.split()[0]}.json"


def counts_of(document: Path) -> Path:
    """Where the instructions are kept, beside the document."""
    return document.with_suffix(".instructions.json")


def run(folder: Path, data: Path, blocks: int) -> None:
    for program in PROGRAMS:
        if shutil.which(program.command[0]) is None:
            print(f"{program.name}: left out (package {program.package})", file=sys.stderr)
            continue
        print(f"{program.name}: {blocks} blocks", file=sys.stderr)
        command = [part.replace("{data}", str(data)) for part in program.command]
        target = file_of(folder, program)
        measure(command, blocks, target)
        count(command, counts_of(target))


def effects(document: Comparison, baseline: str) -> dict[tuple[str, str], Effect]:
    """Every ratio to `baseline`, from the runs of the document."""
    found = analyse(
        document.runs, document.treatments, (baseline, ""), settings_of(document.design)
    )
    return {(effect.allocator, effect.response): effect for effect in found.effects}


def interval(effect: Effect) -> str:
    low, high = (f"{end:.2f}" if end is not None else "?" for end in (effect.low, effect.high))
    return f"{effect.ratio:.2f} ({low} to {high})"


def verdict(effect: Effect, claim: Claim) -> str:
    if effect.low is None or effect.high is None or effect.low <= 1 <= effect.high:
        return "cannot be told"
    return "yes" if (effect.ratio < 1) is claim.below_one else "no"


def table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" * len(header))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def show_ratios(documents: dict[str, Comparison], response: Response) -> None:
    others = ALLOCATORS[1:]
    rows = []
    for name, document in documents.items():
        found = effects(document, "lea")
        cells = (found.get((allocator, response)) for allocator in others)
        rows.append((name, *("failed" if cell is None else interval(cell) for cell in cells)))
    print(f"### {response.capitalize()} relative to Lea\n")
    table(("program", *others), rows)


def counted(counts: dict[str, int], claim: Claim) -> str:
    if claim.allocator not in counts or claim.against not in counts:
        return "not counted"
    return f"{counts[claim.allocator] / counts[claim.against]:.3f}"


def show_claim(claim: Claim, documents: dict[str, Comparison], counts: Counts) -> None:
    then = published(claim)
    mean = geometric_mean(list(then.values()))
    each = ", ".join(f"{name} {ratio:.2f}" for name, ratio in then.items())
    print(
        f"**{claim.text}** ({claim.response}). Published: {mean:.2f} in geometric mean, {each}.\n"
    )
    rows: list[tuple[str, ...]] = []
    for name, document in documents.items():
        effect = effects(document, claim.against).get((claim.allocator, claim.response))
        row: tuple[str, ...] = (
            name,
            *(("failed", "") if effect is None else (interval(effect), verdict(effect, claim))),
        )
        rows.append((*row, counted(counts[name], claim)) if claim.response == "time" else row)
    header = ("program", "today", "holds")
    table((*header, "instructions") if claim.response == "time" else header, rows)


def report(documents: dict[str, Comparison], counts: Counts) -> None:
    show_ratios(documents, "time")
    show_ratios(documents, "memory")
    print("### Does each published effect hold?\n")
    for claim in CLAIMS:
        show_claim(claim, documents, counts)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-n", type=int, default=12, dest="blocks", help="blocks each (12)")
    parser.add_argument("-o", type=Path, dest="output", help="where to keep the documents")
    parser.add_argument("--from", type=Path, dest="earlier", help="analyse these, run nothing")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="heapwright-general-purpose-") as scratch:
        folder = options.earlier or options.output or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        if options.earlier is None:
            run(folder, make_data(Path(scratch)), options.blocks)
        documents = {}
        counts = {}
        for program in PROGRAMS:
            target = file_of(folder, program)
            if target.is_file():
                documents[program.name] = Comparison.from_json(target.read_bytes())
                counts[program.name] = instructions.load(counts_of(target))
    if not documents:
        print("general_purpose: none of the programs is here", file=sys.stderr)
        return 2
    report(documents, counts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
