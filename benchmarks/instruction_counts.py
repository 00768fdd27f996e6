# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Exact instructions per malloc+free pair, by callgrind, of every composed allocator.

How they are counted: callgrind.py. Names select allocators. `--golden` prints the figures of each
compiler as a file tests/golden/instruction_counts_*.toml keeps them.
"""

import json
import sys
import tomllib

from callgrind import ROOT, Compiler, arguments, compilers, count_composed, missing


def catalogue() -> list[tuple[str, str, str]]:
    """Name, header and type of every composed allocator, from the registry."""
    with (ROOT / "catalogue" / "allocators.toml").open("rb") as file:
        entries = tomllib.load(file)["composed"]
    return [(entry["name"], entry["header"], entry["type"]) for entry in entries]


Counts = dict[str, dict[str, float]]


def show(compiler: Compiler, optimisation: str, counts: Counts) -> None:
    print(f"{compiler.version}, -O{optimisation}: instructions per malloc+free pair")
    print("".join([f"  {'case':34}", *(f"{name:>21}" for name in counts)]))
    for case in next(iter(counts.values())):
        print("".join([f"  {case:34}", *(f"{cases[case]:21.2f}" for cases in counts.values())]))
    print()


def show_golden(compiler: Compiler, counts: Counts) -> None:
    cases = json.dumps(list(next(iter(counts.values()))))
    print(f'\n["{compiler.name}"]\nversion = "{compiler.version}"\ncases = {cases}')
    print(f'\n["{compiler.name}".counts]')
    for name, figures in counts.items():
        print(f'"{name}" = [{", ".join(f"{figure:.2f}" for figure in figures.values())}]')


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--golden", action="store_true", help="print TOML")
    parser.add_argument("-O", dest="optimisation", default="2", help="optimisation level (2)")
    parser.add_argument("names", nargs="*", metavar="NAME", help="allocators; none: all composed")
    options = parser.parse_args()
    composed = [each for each in catalogue() if each[0] in options.names or not options.names]
    known = {name for name, _, _ in composed}
    if strange := [name for name in options.names if name not in known]:
        print(f"instruction_counts: {strange[0]} is no composed allocator", file=sys.stderr)
        return 2
    if (lacking := missing(options.compiler)) is not None:
        print(f"instruction_counts: {lacking}", file=sys.stderr)
        return 2
    result: dict[str, Counts] = {}
    for compiler in compilers(options.compiler):
        counts = {
            name: count_composed(compiler, options.optimisation, header, type_name).cases
            for name, header, type_name in composed
        }
        result[compiler.name] = counts
        if options.golden:
            show_golden(compiler, counts)
        elif not options.json:
            show(compiler, options.optimisation, counts)
    if options.json:
        print(json.dumps(result, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
