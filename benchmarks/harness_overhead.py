# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The cost of the harness for the command: interleaved runs with and without it.

In every round each command is run once bare and once under heapwright-run with the witness
preloaded, in an order drawn anew. Both are timed by the CPU time that the kernel charges to the
command's tree, and by wall time. The output is the ratio of the two with a 95 % interval (geometric
mean over the rounds, Student's t on the logarithms).

The last command is the worst case: nothing but the starts of tiny processes, each of which has to
load one library more. Every treatment of a comparison pays that alike.

Usage: harness_overhead.py [ROUNDS]
The start and end of heapwright-run itself are in neither figure, nor in any reported one. On
a machine with other work the CPU time is the steadier of the two.
"""

import math
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from scipy.stats import t as student

from heapwright.base import native
from heapwright.experiment.runner import RunSpec, run_once, with_preload

SOURCE = """
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <regex>
#include <string>
#include <unordered_map>
#include <vector>
int main() {
    std::map<std::string, std::vector<int>> words;
    std::regex expression("([a-z]+) ([0-9]+)");
    for (std::string line; std::getline(std::cin, line);) {
        std::smatch match;
        if (std::regex_match(line, match, expression)) {
            words[match[1]].push_back(std::stoi(match[2]));
        }
    }
    std::cout << words.size();
}
"""
LOOP = "i=0; while [ $i -lt 1000 ]; do /bin/true; i=$((i+1)); done"
SPIN = "i=0; while [ $i -lt 2000000 ]; do i=$((i+1)); done"


@dataclass(frozen=True)
class Cost:
    """The cost of one run."""

    wall_s: float
    cpu_s: float


def bare(command: Sequence[str]) -> Cost:
    """The command alone."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.monotonic()
    subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    wall = time.monotonic() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(wall, cpu)


def harnessed(command: Sequence[str]) -> Cost:
    """The command as `heapwright compare` runs it."""
    environment = with_preload(os.environ, str(native.witness()))
    run = run_once(RunSpec(tuple(command), environment))
    assert run.exit_status == 0
    assert run.wall_s is not None
    return Cost(run.wall_s, (run.user_s or 0.0) + (run.sys_s or 0.0))


def ratio(pairs: Sequence[tuple[Cost, Cost]], figure: Callable[[Cost], float]) -> str:
    """Harnessed over bare, with its interval, in percent more."""
    logs = [math.log(figure(with_it) / figure(without)) for without, with_it in pairs]
    half = statistics.stdev(logs) / math.sqrt(len(logs)) * float(student.ppf(0.975, len(logs) - 1))
    centre = statistics.fmean(logs)
    low, mean, high = (100 * math.expm1(x) for x in (centre - half, centre, centre + half))
    return f"{mean:+6.2f} % ({low:+.2f} to {high:+.2f})"


def measure(command: Sequence[str], rounds: int) -> list[tuple[Cost, Cost]]:
    """Pairs (bare, harnessed), after one of each that is thrown away."""
    pairs = []
    for round_ in range(rounds + 1):
        if random.random() < 0.5:
            first = bare(command)
            pair = (first, harnessed(command))
        else:
            second = harnessed(command)
            pair = (bare(command), second)
        if round_ > 0:
            pairs.append(pair)
    return pairs


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    with tempfile.TemporaryDirectory(prefix="heapwright-overhead-") as folder:
        source = Path(folder) / "heavy.cpp"
        source.write_text(SOURCE)
        commands = {
            "g++ of a header-heavy file": ("g++", "-O1", "-c", str(source), "-o", f"{folder}/o"),
            "one busy process": ("/bin/sh", "-c", SPIN),
            "1000 processes of half a millisecond": ("/bin/sh", "-c", LOOP),
        }
        for name, command in commands.items():
            pairs = measure(command, rounds)
            seconds = statistics.fmean(without.wall_s for without, _ in pairs)
            print(f"{name} ({seconds:.2f} s, {rounds} rounds)")
            print(f"    CPU time  {ratio(pairs, lambda cost: cost.cpu_s)}")
            print(f"    wall time {ratio(pairs, lambda cost: cost.wall_s)}")


if __name__ == "__main__":
    main()
