# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""How often `gate --exact` is right: pairs of equal programs, and pairs with a planted difference.

Counts one program N + 1 times, and a program with 0.2 % more instructions M times, each by
`heapwright compare --exact`. Then `heapwright gate --exact` judges each document against the one
before it, and each planted one against the first. Writes one line for each pair.

    python benchmarks/exact_pairs.py [--pairs 200] [--planted 20] [-o pairs.csv]
"""

import argparse
import csv
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

PROGRAM = """
#include <stdlib.h>
int main(void) {
    unsigned long sum = 0;
    for (int i = 0; i < 40000; ++i) {
        char *object = malloc((size_t)(16 + i % 200));
        object[0] = (char)i;
        sum += (unsigned long)object[0];
        free(object);
    }
    for (int i = 0; i < EXTRA; ++i) __asm__ volatile("" ::: "memory");
    return sum == 1;
}
"""
EXTRA = 4100
"""Rounds of three instructions: 0.2 % of the six million of the program."""
ANSWERS = {0: "same or better", 10: "worse", 12: "undecided"}


def compiled(folder: Path, extra: int) -> Path:
    """The program with a number of further rounds."""
    folder.mkdir()
    source = folder / "loop.c"
    source.write_text(PROGRAM.replace("EXTRA", str(extra)))
    subprocess.run(["cc", "-O0", str(source), "-o", str(folder / "loop")], check=True)
    return folder / "loop"


def heapwright(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "heapwright", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def document(program: Path, name: str, folder: Path) -> Path:
    """The counts of a program."""
    path = folder / f"{name}.json"
    words = ("compare", "--exact", "-a", "glibc", "-q", "--json", str(path), "--", str(program))
    done = heapwright(*words, folder=folder)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return path


def judged(old: Path, new: Path, folder: Path) -> tuple[str, str]:
    """The answer of the gate, and its sentence."""
    done = heapwright("gate", "--exact", "-q", str(old), str(new), folder=folder)
    return ANSWERS.get(done.returncode, f"status {done.returncode}"), done.stdout.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--planted", type=int, default=20)
    parser.add_argument("-o", "--output", type=Path, default=Path("pairs.csv"))
    chosen = parser.parse_args()
    with TemporaryDirectory() as name, chosen.output.open("w", newline="") as stream:
        folder = Path(name)
        equal, planted = compiled(folder / "old", 0), compiled(folder / "new", EXTRA)
        table = csv.writer(stream)
        table.writerow(("kind", "pair", "answer", "sentence"))
        first = before = document(equal, "first", folder)
        for pair in range(1, chosen.pairs + 1):
            now = document(equal, f"equal-{pair}", folder)
            table.writerow(("equal", pair, *judged(before, now, folder)))
            stream.flush()
            before = now
        for pair in range(1, chosen.planted + 1):
            now = document(planted, f"planted-{pair}", folder)
            table.writerow(("planted", pair, *judged(first, now, folder)))
            stream.flush()


if __name__ == "__main__":
    main()
