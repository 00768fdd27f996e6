# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Instructions of every single call of a replayed trace, and their tail, for each allocator.

    python benchmarks/calls/tail.py TRACE... [-a NAMES] [--calls N] [--json FILE]

marked.c replays the first N calls of the busiest thread of a trace under valgrind's lackey, which
reports every instruction. The instructions between two marks are one call. Rare calls are thus
counted as exactly as all others. Callgrind would have to dump its counts for each call, which takes
some milliseconds, and a single step by ptrace took 20 µs.

The count of a call includes the program's linkage and the one to three instructions that pass
arguments. It does not include the kernel: for a call that requests memory from the kernel, only the
instructions around the system call count. Valgrind has no restartable sequences.
"""

import re
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
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

from heapwright.artefacts.run.provenance import Allocator
from heapwright.artefacts.trace.frame import open_trace

CALLS = 50_000
EVENT = struct.Struct("<IIQQ")
NOTHING, MALLOC, CALLOC, REALLOC, MEMALIGN, FREE = range(6)
KINDS = {
    **dict.fromkeys(("malloc", "new", "new[]"), MALLOC),
    "calloc": CALLOC,
    **dict.fromkeys(("realloc", "reallocarray"), REALLOC),
    **dict.fromkeys(("memalign", "aligned_alloc", "posix_memalign"), MEMALIGN),
    **dict.fromkeys(("valloc", "pvalloc", "new aligned", "new[] aligned"), MEMALIGN),
}
"""All others free."""
PAGE = 4096
MARKS = 3
"""Number of events without calls before the others."""
CHUNK = 1 << 22
INSTRUCTION = b"\nI "
"""How lackey begins a line about an instruction; others are about data."""

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Tail:
    """Instructions of calls, in one replay."""

    trace: str
    allocator: str
    calls: int
    mean: float
    p50: int
    p99: int
    p99_9: int
    most: int


def events_of(rows: Iterable[tuple[str, int, int, int, int]]) -> Iterator[bytes]:
    """As marked.c reads them, from rows of routine, address, old address, size, alignment.

    An object has a slot for as long as it lives; frees of unknown objects
    are left out.
    """
    yield from (EVENT.pack(NOTHING, 0, 0, 0) for _ in range(MARKS))
    slots: dict[int, int] = {}
    free: list[int] = []
    fresh = 1
    for routine, address, old, size, alignment in rows:
        kind = KINDS.get(routine, FREE)
        if kind in (FREE, REALLOC) and (freed := address if kind == FREE else old) in slots:
            slot = slots.pop(freed)
        elif kind == FREE:
            continue
        else:
            kind = MALLOC if kind == REALLOC else kind
            slot = free.pop() if free else fresh
            fresh += slot == fresh
        if kind == FREE:
            free.append(slot)
            yield EVENT.pack(FREE, slot, 0, 0)
        else:
            slots[address] = slot
            aligned = (alignment or PAGE) if kind == MEMALIGN else 0
            yield EVENT.pack(kind, slot, size, aligned)


def rows_of(trace: Path, calls: int) -> Iterable[tuple[str, int, int, int, int]]:
    """The first calls of the thread that makes most."""
    frame = open_trace(trace)
    busiest = (
        frame.group_by("process", "thread").len().sort("len", descending=True).head(1).collect()
    )
    chosen = frame.filter(
        pl.col("process") == busiest["process"][0], pl.col("thread") == busiest["thread"][0]
    )
    columns = ("routine", "address", "old", "size", "alignment")
    return chosen.select(columns).head(calls).collect().iter_rows()


def between_marks(pieces: Iterable[bytes], mark: bytes) -> Iterator[int]:
    """Lines of instructions between the first and the second mark, the third and the fourth …

    `mark` is the line, with the end of the line before it, of the mark's first instruction.
    """
    rest, inside, count = b"\n", False, 0
    for piece in pieces:
        lines = rest + piece
        end = lines.rfind(b"\n")
        rest = lines[end:]
        first, *others = lines[:end].split(mark)
        count += first.count(INSTRUCTION)
        for part in others:
            if inside:
                yield count
            inside, count = not inside, part.count(INSTRUCTION)


def place_of_mark(program: Path) -> bytes:
    """The line that lackey writes where `mark` begins, up to the length of the instruction."""
    symbols = output(["nm", str(program)]).decode()
    found = re.search(r"^([0-9a-f]+) T mark$", symbols, re.MULTILINE)
    if found is None:
        raise FailedError("marked has no mark")
    return b"\nI  %08x," % int(found[1], 16)


def counts_of(program: Path, events: Path, allocator: Allocator) -> Counts:
    """Instructions of every call. Raises FailedError if the replay does not come to its end."""
    lackey = ["valgrind", "-q", "--tool=lackey", "--basic-counts=no", "--trace-mem=yes"]
    command = [*lackey, "--log-fd=1", str(program), str(events)]
    expected = events.stat().st_size // EVENT.size
    with subprocess.Popen(
        command, env=under(allocator), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as replay:
        assert replay.stdout is not None
        pipe = replay.stdout
        pieces = iter(lambda: pipe.read(CHUNK), b"")
        counts = np.fromiter(between_marks(pieces, place_of_mark(program)), np.int64)
        assert replay.stderr is not None
        said = replay.stderr.read().decode(errors="replace").strip().splitlines()
    if replay.returncode != 0 or len(counts) != expected:
        raise FailedError(said[-1] if said else f"{len(counts)} of {expected} calls were made")
    beyond: Counts = counts[MARKS:] - counts[:MARKS].min()
    return beyond


def tail(trace: str, allocator: str, counts: Counts) -> Tail:
    """The figures. A percentile is the smallest count that this share of calls does not exceed."""
    p50, p99, p99_9 = (
        int(np.quantile(counts, share, method="inverted_cdf")) for share in (0.5, 0.99, 0.999)
    )
    return Tail(
        trace, allocator, len(counts), float(counts.mean()), p50, p99, p99_9, int(counts.max())
    )


def measure(traces: Sequence[Path], calls: int, used: Sequence[Allocator]) -> list[Tail]:
    """All figures, of each trace the shortest tail first."""
    found = []
    with tempfile.TemporaryDirectory(prefix="heapwright-tail-") as name:
        folder = Path(name)
        program = compiled("marked.c", folder, "-no-pie", "-fno-pie", "-fno-builtin")
        for trace in traces:
            events = folder / "events"
            events.write_bytes(b"".join(events_of(rows_of(trace, calls))))
            for allocator in used:
                try:
                    counts = counts_of(program, events, allocator)
                except FailedError as error:
                    say_failed(allocator, error)
                else:
                    found.append(tail(trace.stem, allocator.name, counts))
    return sorted(found, key=lambda each: (each.trace, each.p99_9, each.most))


def main() -> int:
    options = parser(__doc__)
    options.add_argument("traces", metavar="TRACE", nargs="+", type=Path)
    options.add_argument("--calls", type=int, default=CALLS, help=f"of each trace ({CALLS:,})")
    given = options.parse_args()
    if shutil.which("valgrind") is None:
        sys.stderr.write("tail: valgrind is not installed (package valgrind)\n")
        return 2
    used, left = allocators(given.names)
    say_left_out(left)
    found = measure(given.traces, given.calls, used)
    write(given.json, [asdict(each) for each in found], used)
    heads = ("instructions of a call", "trace", "calls", "mean", "p50", "p99", "p99.9", "most")
    rows = [
        (
            *(each.allocator, each.trace, f"{each.calls:,}", f"{each.mean:.1f}"),
            *(f"{figure:,}" for figure in (each.p50, each.p99, each.p99_9, each.most)),
        )
        for each in found
    ]
    sys.stdout.write(table(heads, rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
