# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Layers cost nothing: composed heaps against the same written by hand in plain C.

Each pair of pairs.py, under both compilers at -O2 and -O3, counted by callgrind to the instruction:
Kingsley's allocator without a lock and as it ships, a pool, an xalloc heap, a region, and obstacks
against those of the C library. Beside the counts stand the sizes of the code.

Exit status 1 if a composed heap needs more instructions than the hand-written one in any case of
the steady state. Lea's core has a known cost, in splitting and merging: it fails above the
percentage that pairs.py allows. The `growth` cases, where all memory is new, are listed but do not
decide. They occur once in the life of a block, not once for each object.
"""

import json
import sys
from dataclasses import asdict, dataclass

from callgrind import Compiler, arguments, compilers, missing
from pairs import PAIRS, Pair


@dataclass(frozen=True)
class Row:
    """One case of one pair: instructions per unit, composed and by hand; bytes of code of each."""

    compiler: str
    optimisation: str
    pair: str
    case: str
    composed: float
    by_hand: float
    composed_text: int
    by_hand_text: int
    allowed_percent: int

    @property
    def decides(self) -> bool:
        return not self.case.startswith("growth")

    @property
    def costs(self) -> bool:
        return self.decides and self.composed > self.by_hand * (1 + self.allowed_percent / 100)

    @property
    def mark(self) -> str:
        if not self.decides:
            return "  (not held against it)"
        if self.costs:
            return "  <- costs"
        known = self.composed > self.by_hand
        return f"  (known: up to {self.allowed_percent} %)" if known else ""


def compare(compiler: Compiler, optimisation: str, pair: Pair) -> list[Row]:
    composed = pair.count_composed(compiler, optimisation)
    by_hand = pair.count_by_hand(compiler, optimisation)
    rest = composed.text, by_hand.text, pair.allowed_percent.get(compiler.name, 0)
    return [
        Row(compiler.name, optimisation, pair.name, case, figure, by_hand.cases[case], *rest)
        for case, figure in composed.cases.items()
    ]


def show(rows: list[Row], compiler: Compiler, optimisation: str) -> None:
    print(f"{compiler.version}, -O{optimisation}: instructions per object made and freed")
    print("  (obstacks: per character of the text that is parsed)")
    print(f"  {'pair':14} {'case':34}{'composed':>10}{'by hand':>10}{'difference':>12}")
    for row in rows:
        difference = f"{row.composed - row.by_hand:+.2f}"
        figures = f"{row.composed:10.2f}{row.by_hand:10.2f}{difference:>12}"
        print(f"  {row.pair:14} {row.case:34}{figures}{row.mark}")
    for row in {row.pair: row for row in rows}.values():
        difference = f"{row.composed_text - row.by_hand_text:+}"
        figures = f"{row.composed_text:10}{row.by_hand_text:10}{difference:>12}"
        print(f"  {row.pair:14} {'bytes of code':34}{figures}")
    print()


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("-O", dest="optimisations", action="append", help="level (2 and 3)")
    parser.add_argument("--pair", action="append", choices=[pair.name for pair in PAIRS])
    options = parser.parse_args()
    chosen = [pair for pair in PAIRS if options.pair is None or pair.name in options.pair]
    if (lacking := missing(options.compiler)) is not None:
        print(f"layers_cost_nothing: {lacking}", file=sys.stderr)
        return 2
    rows: list[Row] = []
    for compiler in compilers(options.compiler):
        for optimisation in options.optimisations or ["2", "3"]:
            found = [row for pair in chosen for row in compare(compiler, optimisation, pair)]
            rows += found
            if not options.json:
                show(found, compiler, optimisation)
    costly = [row for row in rows if row.costs]
    if options.json:
        print(json.dumps([asdict(row) for row in rows], indent=1))
    elif costly:
        print(f"Layers cost something in {len(costly)} of {len(rows)} cases.")
    else:
        print("Layers cost nothing, except up to the percentage that is known and marked.")
    return 1 if costly else 0


if __name__ == "__main__":
    sys.exit(main())
