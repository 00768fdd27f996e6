# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What each layer of granary-hardened costs: hardened/variants.hpp, one thing more each.

    python benchmarks/hardened_cost.py [-n BLOCKS]

Instructions are those of a pair of malloc and free of up to 256 bytes among a thousand live objects
(calls/fast_path.py). Processor time and peak memory are ratios to granary's. They are geometric
means over the programs of the study granary that are commands, from `heapwright compare` in
randomised blocks. Prints a table in Markdown, and what the last row, granary-hardened, costs by
program.
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from composed import build
from heapwright.artefacts.comparison.document import Comparison
from heapwright.base import native

HERE = Path(__file__).parent
ROWS = {
    "WithFlag": "… with `SignalSafeHeap` for `HandlerSafeHeap`",
    "WithLinks": "+ `EncodedFreelist`",
    "WithGaps": "+ closed gaps",
    "WithClosedRuns": "+ freed runs wait, closed",
    "WithQuarantine": "+ `ThreadQuarantineHeap`",
    "WithCanaries": "+ `TailCanaryHeap`",
    "WithZeros": "+ `ZeroOnMallocHeap`",
    "WithEmpty": "+ `EmptyObjectHeap`",
    "WithMap": "+ `LiveMapHeap`: granary-hardened",
}
HARDENED = "WithMap"
PROGRAMS = {
    "g++": "compiler 0",
    "perl": "perl 1",
    "python3": "cpython 4",
    "sqlite3": "sqlite 20000",
}
RESPONSES = ("cpu", "memory")


def instructions(names: str, folder: Path) -> dict[str, float]:
    """Of a pair of calls, by allocator."""
    document = folder / "pairs.json"
    script = HERE / "calls" / "fast_path.py"
    subprocess.run(
        [sys.executable, script, "-a", names, "--json", document], check=True, capture_output=True
    )
    found = json.loads(document.read_text(encoding="utf-8"))
    return {each["allocator"]: each["held"] for each in found["figures"]}


def ratios(names: str, program: str, blocks: int, folder: Path) -> Mapping[tuple[str, str], float]:
    """By allocator and response, to granary's."""
    kind, amount = program.split()
    installed = native.native_dir()
    document = folder / "comparison.json"
    script = installed / "catalogue" / "studies" / "programs" / "granary.sh"
    command: list[str | Path] = ["sh", script, "run", kind, "command", "1"]
    settings = [
        f"FOLDER={installed / 'catalogue' / 'studies'}",
        f"PYTHON={sys.executable}",
        f"AMOUNT={amount}",
    ]
    tool = [sys.executable, "-m", "heapwright", "compare", "-q", "-a", names, "-n", str(blocks)]
    options: list[str | Path] = ["--baseline", "granary", "--json", document]
    done = subprocess.run(
        [*tool, *options, "--", "env", *settings, *command], capture_output=True, check=False
    )
    if not document.exists():
        raise RuntimeError(done.stderr.decode(errors="replace"))
    found = Comparison.model_validate_json(document.read_bytes())
    document.unlink()
    return {(each.allocator, each.response): each.ratio for each in found.effects}


def mean(values: list[float]) -> float:
    return math.exp(sum(math.log(each) for each in values) / len(values))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-n", "--blocks", type=int, default=8, help="blocks of runs (8)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="heapwright-hardened-") as made:
        folder = Path(made)
        libraries = {
            name: build(
                HERE / "hardened" / "variants.hpp",
                f"heapwright::benchmarks::hardened::{name}",
                name.lower(),
                folder,
            )
            for name in ROWS
        }
        names = ",".join(["granary", *(f"{name}={path}" for name, path in libraries.items())])
        counted = instructions(names, folder)
        found = {
            program: ratios(names, words, given.blocks, folder)
            for program, words in PROGRAMS.items()
        }
    print("| composition | instructions | share | CPU time | peak memory |\n|---|---|---|---|---|")
    print(f"| granary | {counted['granary']:.0f} | | 1.00 | 1.00 |")
    before = counted["granary"]
    for name, words in ROWS.items():
        means = [mean([each[name, response] for each in found.values()]) for response in RESPONSES]
        share = counted[name] - before
        before = counted[name]
        cells = f"{before:.0f} | {share:+.0f} | {means[0]:.2f} | {means[1]:.2f}"
        print(f"| {words} | {cells} |")
    each = ", ".join(
        f"{program} {' and '.join(f'{found[program][HARDENED, name]:.2f}' for name in RESPONSES)}"
        for program in PROGRAMS
    )
    print(f"\nFor granary-hardened by program, CPU time and peak: {each}.")


if __name__ == "__main__":
    main()
