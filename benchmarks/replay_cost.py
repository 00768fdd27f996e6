# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What the replayer itself does for each recorded call, counted to the instruction by callgrind.

Two traces, one twice as long, are replayed. The cost of a call is the difference of the
instructions in the replayer's own code, divided by the additional calls. The allocator's
instructions, in another object, are not in it. Needs valgrind and the installed tool
(HEAPWRIGHT_NATIVE).
"""

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from heapwright.artefacts.trace.file import TraceFormat, import_trace
from heapwright.base.native import program

LIMIT = 40.0
CALLS = 50_000
REPLAYER = "heapwright-replay"


def operations(calls: int, reallocs: bool, threads: int) -> Iterator[str]:
    """Calls as Android's text traces have them: 200 to 1,000 live objects of 16 to 200 bytes."""
    drawn = random.Random(1)
    live: list[tuple[int, int]] = []
    for number in range(1, calls + 1):
        if len(live) < 200 or (len(live) < 1000 and drawn.random() < 0.5):
            thread = 1 + number % threads
            live.append((4096 * number, thread))
            yield f"{thread}: malloc 0x{4096 * number:x} {drawn.randrange(16, 216)}"
            continue
        place = drawn.randrange(len(live))
        address, thread = live[place]
        if reallocs and drawn.random() < 0.125:
            size = drawn.randrange(16, 216)
            yield f"{thread}: realloc 0x{address:x} 0x{address:x} {size}"
            continue
        live[place] = live[-1]
        live.pop()
        ending = 1 + drawn.randrange(threads)
        yield f"{ending}: free 0x{address:x}"


def own_instructions(plan: Path, folder: Path, options: Sequence[str]) -> int:
    """Instructions of one replay that are in the replayer's own code."""
    counts = folder / "counts"
    command = ["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={counts}"]
    command += [str(program("replay")), "run", str(plan), *options]
    subprocess.run(command, check=True, capture_output=True)
    return own_part(counts.read_text(encoding="utf-8", errors="replace"))


def own_part(text: str) -> int:
    """The costs in a callgrind profile of the replayer's own lines, without callees."""
    names: dict[str, str] = {}
    mine = inclusive = False
    total = 0
    for line in text.splitlines():
        if named := re.match(r"(c?ob)=\((\d+)\)(?: (.*))?", line):
            kind, number, name = named.groups()
            names[number] = name or names[number]
            if kind == "ob":
                mine = names[number].endswith(REPLAYER)
        elif line.startswith("calls="):
            inclusive = True  # the next line is what the callee and all below it cost
        elif cost := re.match(r"[+\-*\d]\S* (\d+)$", line):
            if mine and not inclusive:
                total += int(cost[1])
            inclusive = False
    return total


def cost(reallocs: bool, threads: int, options: Sequence[str]) -> float:
    """Instructions of the replayer's own for each call."""
    with tempfile.TemporaryDirectory(prefix="heapwright-") as name:
        folder = Path(name)
        counted = []
        for calls in (CALLS, 2 * CALLS):
            text, trace, plan = folder / "text", folder / "trace", folder / "plan"
            text.write_text("\n".join(operations(calls, reallocs, threads)) + "\n")
            import_trace(text, trace, TraceFormat.ANDROID)
            words = [str(program("replay")), "prepare", str(trace), "-o", str(plan)]
            subprocess.run(words, check=True, capture_output=True)
            counted.append(own_instructions(plan, folder, options))
    return (counted[1] - counted[0]) / CALLS


CASES: dict[str, tuple[bool, int, tuple[str, ...]]] = {
    "malloc and free": (False, 1, ()),
    "with reallocs": (True, 1, ()),
    "streamed": (True, 1, ("--resident", "0")),
    "without latencies": (True, 1, ("--no-latencies",)),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--case", choices=[*CASES], help="only this one")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    arguments = parser.parse_args()
    chosen = [arguments.case] if arguments.case else [*CASES]
    found = {name: cost(*CASES[name]) for name in chosen}
    if arguments.json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name:<20} {value:6.1f} instructions a call")
    return 1 if max(found.values()) > LIMIT else 0


if __name__ == "__main__":
    sys.exit(main())
