# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Instructions of malloc and free of a small random size, for each allocator as it is preloaded.

    python benchmarks/calls/fast_path.py [-a NAMES] [--most BYTES] [--json FILE]

pairs.c calls malloc and free through its linkage table, with and without a thousand live objects.
It runs under callgrind with N and with 2N pairs. The difference, divided by N, is the cost of a
pair in the steady state, including rare slow paths. The cost of the same loop without the two calls
is subtracted. The result contains the two calls, their linkage, and the library.

Counts are exact. Valgrind has no restartable sequences, so an allocator with caches for each
processor takes another path there than outside of it.
"""

import re
import shutil
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from libraries import (
    FailedError,
    allocators,
    compiled,
    output,
    parser,
    say_failed,
    say_left_out,
    table,
    under,
    write,
)

from heapwright.artefacts.run.provenance import Allocator, Kind

PAIRS = 40_000
MOST = 256
LOOPS = {"alone": "loop", "held": "held-loop"}


@dataclass(frozen=True)
class Pair:
    """Instructions of malloc and free together."""

    allocator: str
    alone: float
    held: float


def instructions(program: Path, loop: str, rounds: int, most: int, allocator: Allocator) -> int:
    """Of the whole process, as callgrind counts them."""
    with tempfile.TemporaryDirectory(prefix="heapwright-pairs-") as folder:
        counts = Path(folder) / "counts"
        valgrind = ["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={counts}"]
        output([*valgrind, str(program), loop, str(rounds), str(most)], under(allocator))
        found = re.search(r"^totals: (\d+)", counts.read_text(), re.MULTILINE)
    if found is None:
        raise FailedError(f"callgrind left no count of {loop}")
    return int(found[1])


def each(program: Path, loop: str, most: int, allocator: Allocator) -> float:
    """Instructions of one round of a loop, warm."""
    once, twice = (
        instructions(program, loop, rounds, most, allocator) for rounds in (PAIRS, 2 * PAIRS)
    )
    return (twice - once) / PAIRS


def measure(program: Path, most: int, used: list[Allocator]) -> list[Pair]:
    """All figures, the fewest instructions with a thousand live objects first."""
    nobody = Allocator(name="none", kind=Kind.SYSTEM)
    empty = {loop: each(program, without, most, nobody) for loop, without in LOOPS.items()}
    found = []
    for allocator in used:
        try:
            counts = {loop: each(program, loop, most, allocator) - empty[loop] for loop in LOOPS}
        except FailedError as error:
            say_failed(allocator, error)
        else:
            found.append(Pair(allocator.name, **counts))
    return sorted(found, key=lambda pair: pair.held)


def main() -> int:
    options = parser(__doc__)
    options.add_argument("--most", type=int, default=MOST, help=f"the largest size ({MOST})")
    given = options.parse_args()
    if shutil.which("valgrind") is None:
        sys.stderr.write("fast_path: valgrind is not installed (package valgrind)\n")
        return 2
    used, left = allocators(given.names)
    say_left_out(left)
    with tempfile.TemporaryDirectory(prefix="heapwright-pairs-") as folder:
        found = measure(compiled("pairs.c", Path(folder)), given.most, used)
    write(given.json, [asdict(pair) for pair in found], used)
    rows = [(pair.allocator, f"{pair.held:.1f}", f"{pair.alone:.1f}") for pair in found]
    sys.stdout.write(table(("instructions of malloc + free", "1,000 live", "none live"), rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
