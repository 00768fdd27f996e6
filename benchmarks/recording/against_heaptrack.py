# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Recording with stacks beside the distribution's heaptrack: what it costs, how large its file is.

In every round each command runs once bare, once under heapwright-record --stacks, and once with
heaptrack's library preloaded, which writes to a file. The order within a round is drawn anew. This
is the fastest use of heaptrack. Its usual script runs other processes that interpret and compress
meanwhile. Slowdown is the time that a recorder adds to the bare run of the same round. Shares of
heaptrack's slowdown are geometric means over the rounds, for the CPU time of the whole tree (user
and system) and for wall time. File size is per event of each one's own file, heaptrack's as its
library writes it, without compression.

Usage: against_heaptrack.py [ROUNDS]
On a machine with other work the CPU time is the steadier of the two.
"""

import math
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from heapwright.artefacts.trace.file import trace_info
from heapwright.base import native

PRELOADS = ("/usr/lib/heaptrack/libheaptrack_preload.so",)
FILES = {"heapwright": "T", "heaptrack": "raw"}
SOURCE = """
#include <iostream>
#include <map>
#include <regex>
#include <string>
#include <vector>
int main() {
    std::map<std::string, std::vector<std::string>> words;
    std::regex word("a+b*");
    for (int i = 0; i < 10; ++i) words[std::to_string(i)].push_back("x");
    std::cout << words.size() << std::regex_match("aab", word);
}
"""
SCRIPT = """
words = {}
for i in range(300000):
    words.setdefault(str(i % 5000), []).append((i, str(i)))
print(len(words), sum(len(v) for v in words.values()))
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of one run, all its processes counted."""

    cpu: float
    wall: float


def run(command: Sequence[str], more: Mapping[str, str], folder: Path) -> Cost:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    subprocess.run(
        command,
        env={**os.environ, **more},
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)
    return Cost(cpu, wall)


def commands(folder: Path) -> dict[str, list[str]]:
    """The commands, each one process, so that all recorders see the same."""
    (folder / "many.cpp").write_text(SOURCE, encoding="utf-8")
    (folder / "words.py").write_text(SCRIPT, encoding="utf-8")
    flags = subprocess.run(
        ["g++", "-###", "-std=c++17", "-O1", "-S", "many.cpp", "-o", "many.s"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    ).stderr.splitlines()
    compiler = next(line for line in flags if "/cc1plus" in line.strip().split(" ")[0])
    return {
        "cc1plus": [word.strip('"') for word in compiler.split()],
        # Not -I, which would hide PYTHONMALLOC from it: it would make hardly any request to malloc.
        "python3": ["/usr/bin/python3", "-s", "words.py"],
    }


def first(paths: Sequence[str]) -> str:
    found = next((path for path in paths if Path(path).exists()), None)
    if found is None:
        sys.exit(f"needs heaptrack (package heaptrack): none of {', '.join(paths)}")
    return found


def recorders(command: Sequence[str], folder: Path) -> dict[str, tuple[list[str], dict[str, str]]]:
    """The command under each of them: words and environment."""
    environment = {"PYTHONMALLOC": "malloc"}
    ours = [str(native.program("record")), "--trace", str(folder / "T"), "--stacks", "--no-system"]
    ours += ["--preload", str(native.library("recorder")), "--"]
    alone = {"LD_PRELOAD": first(PRELOADS), "DUMP_HEAPTRACK_OUTPUT": str(folder / "raw")}
    return {
        "bare": (list(command), environment),
        "heapwright": ([*ours, *command], environment),
        "heaptrack": (list(command), {**environment, **alone}),
    }


def lines_of(content: bytes, kinds: bytes) -> int:
    return sum(1 for line in content.splitlines() if line[:1] and line[:1] in kinds)


def sizes(folder: Path) -> dict[str, float]:
    """Bytes per event of the files that the last round left."""
    raw = (folder / "raw").read_bytes()
    trace = folder / "T"
    return {
        "heapwright": trace.stat().st_size / trace_info(trace).events,
        "raw": len(raw) / lines_of(raw, b"+-"),
    }


def geometric(ratios: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def added(costs: Mapping[str, list[Cost]], who: str, what: str) -> list[float]:
    """What a recorder adds, round by round, in parts of the bare run; at least a thousandth."""
    pairs = zip(costs[who], costs["bare"], strict=True)
    return [max(getattr(c, what) / getattr(bare, what) - 1, 1e-3) for c, bare in pairs]


def report(name: str, costs: Mapping[str, list[Cost]], files: Mapping[str, float]) -> None:
    print(name)
    for what in ("cpu", "wall"):
        ours = added(costs, "heapwright", what)
        theirs = added(costs, "heaptrack", what)
        share = geometric([mine / other for mine, other in zip(ours, theirs, strict=True)])
        print(
            f"  {what:5} adds {geometric(ours):.2f} of the bare run, heaptrack "
            f"{geometric(theirs):.2f}: {share:.2f} of it"
        )
    own = files["heapwright"]
    print(
        f"  bytes per event {own:.2f}, heaptrack {files['raw']:.2f}: {own / files['raw']:.2f} of it"
    )


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for name, command in commands(folder).items():
            costs: dict[str, list[Cost]] = defaultdict(list)
            for _ in range(rounds):
                ways = list(recorders(command, folder).items())
                random.shuffle(ways)
                for who, (words, environment) in ways:
                    if who in FILES:
                        (folder / FILES[who]).unlink(missing_ok=True)
                    costs[who].append(run(words, environment, folder))
            report(name, costs, sizes(folder))


if __name__ == "__main__":
    main()
