# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What `heapwright limit` costs a command: processor time relative to the command alone.

In every round each command runs alone, under the library that counts, and under this library and
the recorder with stacks. The order within a round is drawn anew. A ratio is that of the processor
time (user and system, all processes) to the run alone of the same round. The table has the medians
and the range of all rounds. The time of the tool itself, before and after the command, is not
included. It is constant but for an exceeded budget, where it reads the trace.

Usage: limit_cost.py [ROUNDS]
"""

import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from heapwright.base import native
from heapwright.limit.counts import LIBRARY, VARIABLE, make_file

LOOP = """
#include <stdlib.h>
static void *volatile blocks[1000];
int main(void) {
    for (long i = 0; i < 20000000; ++i) {
        void *volatile *const place = &blocks[i * 7919 % 1000];
        free(*place);
        *place = malloc(16 + i % 500);
    }
    return 0;
}
"""
CPP = """
#include <map>
#include <regex>
#include <string>
int main() { return std::regex_match("aab", std::regex("a+b*")) ? 0 : 1; }
"""
PERL = "my %h; $h{$_ % 50000} = [$_, qq(x$_)] for 1..600000; my @k = sort keys %h"
PYTHON = "d = {}\nfor i in range(400000): d.setdefault(str(i % 5000), []).append((i, str(i)))"
ROUNDS = 15
MODES = ("alone", "counts", "counts and stacks")


def commands(folder: Path) -> dict[str, list[str]]:
    (folder / "loop.c").write_text(LOOP)
    (folder / "a.cpp").write_text(CPP)
    loop = str(folder / "loop")
    subprocess.run(["cc", "-O2", str(folder / "loop.c"), "-o", loop], check=True)
    return {
        "perl, a hash of lists": ["perl", "-e", PERL],
        "python3, PYTHONMALLOC=malloc": ["python3", "-c", PYTHON],
        "g++, a file with <regex>": ["g++", "-O1", "-fsyntax-only", str(folder / "a.cpp")],
        "a loop of malloc and free": [loop],
    }


def words(mode: str, command: list[str], folder: Path) -> tuple[list[str], dict[str, str]]:
    """The command of a mode, and its variables."""
    if mode == "alone":
        return command, {}
    library, file = str(native.library(LIBRARY)), folder / "counts"
    make_file(file)
    if mode == "counts":
        return command, {VARIABLE: str(file), "LD_PRELOAD": library}
    trace = folder / "trace"
    trace.unlink(missing_ok=True)
    preload = f"{native.library('recorder')}:{library}"
    launcher = [str(native.program("record")), "--trace", str(trace), "--preload", preload]
    options = ["--stacks", "--follow-children", "--no-system"]
    return [*launcher, *options, "--", *command], {VARIABLE: str(file)}


def cpu(command: list[str], variables: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "PYTHONMALLOC": "malloc", **variables}
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print("| command | seconds alone | counts | counts and stacks |\n|---|---|---|---|")
        for title, command in commands(folder).items():
            times: dict[str, list[float]] = {mode: [] for mode in MODES}
            for _ in range(rounds):
                for mode in random.sample(MODES, len(MODES)):
                    times[mode].append(cpu(*words(mode, command, folder)))
            cells = [f"{statistics.median(times['alone']):.2f}"]
            for mode in MODES[1:]:
                ratios = [a / b for a, b in zip(times[mode], times["alone"], strict=True)]
                middle = statistics.median(ratios)
                cells.append(f"{middle:.2f} ({min(ratios):.2f} to {max(ratios):.2f})")
            print(f"| {title} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
