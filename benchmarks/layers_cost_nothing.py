# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Layers cost nothing: composed Kingsley against the same algorithm written by hand in plain C.

Two pairs, each under both compilers at -O2 and -O3, counted by callgrind to the instruction:

- the core: the rungs `Chunks` to `Checked` of allocators/kingsley.hpp, without a lock, against
  twins/kingsley_core.c;
- the whole: the composition as it ships (any alignment, lock, signals, C rules) against
  twins/kingsley.c.

Exit status 1 if the composed heap needs more instructions than the hand-written one for a
malloc+free pair in any case of the steady state. The `growth` case, where every block is cut from
fresh memory, is listed as well but decides nothing: it happens once per block, not once per pair.
"""

import json
import sys
from dataclasses import asdict, dataclass

from instruction_counts import (
    HERE,
    Compiler,
    arguments,
    compilers,
    count,
    count_composed,
    missing,
)

HEADER = "allocators/kingsley.hpp"
PAIRS = {
    "core": ("heapwright::allocators::kingsley::Checked", "kingsley_core.c"),
    "whole": ("heapwright::allocators::Kingsley", "kingsley.c"),
}


@dataclass(frozen=True)
class Row:
    """One case of one pair: instructions per malloc+free, composed and by hand."""

    compiler: str
    optimisation: str
    pair: str
    case: str
    composed: float
    by_hand: float

    @property
    def decides(self) -> bool:
        return not self.case.startswith("growth")

    @property
    def costs(self) -> bool:
        return self.decides and self.composed > self.by_hand


def compare(compiler: Compiler, optimisation: str) -> list[Row]:
    rows = []
    for pair, (type_name, twin) in PAIRS.items():
        composed = count_composed(compiler, optimisation, HEADER, type_name)
        by_hand = count(compiler, optimisation, HERE / "twins" / twin)
        rows += [
            Row(compiler.name, optimisation, pair, case, composed[case], by_hand[case])
            for case in composed
        ]
    return rows


def show(rows: list[Row], compiler: Compiler, optimisation: str) -> None:
    print(f"{compiler.version}, -O{optimisation}: instructions per malloc+free pair")
    print(f"  {'pair':6} {'case':34}{'composed':>10}{'by hand':>10}{'difference':>12}")
    for row in rows:
        difference = f"{row.composed - row.by_hand:+.2f}"
        mark = "  <- costs" if row.costs else ("" if row.decides else "  (not held against it)")
        figures = f"{row.composed:10.2f}{row.by_hand:10.2f}{difference:>12}"
        print(f"  {row.pair:6} {row.case:34}{figures}{mark}")
    print()


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("-O", dest="optimisations", action="append", help="level (2 and 3)")
    options = parser.parse_args()
    if (lacking := missing(options.compiler)) is not None:
        print(f"layers_cost_nothing: {lacking}", file=sys.stderr)
        return 2
    rows: list[Row] = []
    for compiler in compilers(options.compiler):
        for optimisation in options.optimisations or ["2", "3"]:
            found = compare(compiler, optimisation)
            rows += found
            if not options.json:
                show(found, compiler, optimisation)
    costly = [row for row in rows if row.costs]
    if options.json:
        print(json.dumps([asdict(row) for row in rows], indent=1))
    elif costly:
        print(f"Layers cost something in {len(costly)} of {len(rows)} cases.")
    else:
        print("Layers cost nothing: composed needs as many instructions as by hand, or fewer.")
    return 1 if costly else 0


if __name__ == "__main__":
    sys.exit(main())
