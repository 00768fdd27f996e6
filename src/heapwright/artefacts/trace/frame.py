# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The events of a trace for Polars, and as Parquet.

`heapwright-trace columns` decodes and merges. Its answer comes in chunks of 65,536 rows, each
column's values one after the other. So a chunk becomes a frame without a look at a value. A
LazyFrame of it streams: memory is that of the query, not of the trace.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO

import numpy as np

from heapwright.artefacts.trace.file import PROGRAM, TraceError, plain, selection, trace_info
from heapwright.base import native
from heapwright.base.native_programs import complaint
from heapwright.base.polars_package import pl, register_io_source

WORDS = ("time", "began", "address", "old", "size", "usable", "alignment")
HALVES = ("process", "thread", "stack")
ROUTINES = {
    0: "malloc",
    1: "calloc",
    2: "realloc",
    3: "reallocarray",
    4: "memalign",
    5: "aligned_alloc",
    6: "posix_memalign",
    7: "valloc",
    8: "pvalloc",
    9: "new",
    10: "new[]",
    11: "new aligned",
    12: "new[] aligned",
    16: "free",
    17: "cfree",
    18: "free_sized",
    19: "free_aligned_sized",
    20: "delete",
    21: "delete[]",
    22: "delete sized",
    23: "delete[] sized",
    24: "delete aligned",
    25: "delete[] aligned",
}


@dataclass(slots=True)
class Reading:
    """The outcome, after all of a trace was read."""

    faults: int = 0
    """Pieces that could not be read."""
    failure: TraceError | None = None


@cache
def schema() -> dict[str, pl.DataType | type[pl.DataType]]:
    """The columns of a frame and their types."""
    return {
        **dict.fromkeys(WORDS, pl.UInt64),
        **dict.fromkeys(HALVES, pl.UInt32),
        "routine": pl.Enum(list(ROUTINES.values())),
    }


def open_trace(
    path: Path, process: int | None = None, reading: Reading | None = None
) -> pl.LazyFrame:
    """The events in the order of their times, as `schema` has them; times in ns since the start.

    Raises TraceError at once where the file is no trace.
    """
    trace_info(path)

    def source(
        columns: list[str] | None, predicate: pl.Expr | None, rows: int | None, _batch: int | None
    ) -> Iterator[pl.DataFrame]:
        for frame in frames(path, process, reading):
            chosen = frame if predicate is None else frame.filter(predicate)
            chosen = chosen if columns is None else chosen.select(columns)
            if rows is not None:
                chosen = chosen.head(rows)
                rows -= chosen.height
            yield chosen
            if rows == 0:
                return

    return register_io_source(source, schema=schema())


def write_parquet(path: Path, to: Path, process: int | None = None) -> int:
    """Write the events as Parquet, streamed; how many pieces of the trace could not be read.

    Raises TraceError, OSError.
    """
    reading = Reading()
    events = open_trace(path, process, reading)
    try:
        events.sink_parquet(to, compression="zstd", row_group_size=1 << 20)
    except pl.exceptions.ComputeError as error:  # of a full disk, too
        why = str(error).rpartition("IO error: ")[2]
        raise reading.failure or OSError(why) from error
    return reading.faults


def frames(
    path: Path, process: int | None = None, reading: Reading | None = None
) -> Iterator[pl.DataFrame]:
    """The events, a chunk at a time. Raises TraceError."""
    reading = reading or Reading()
    words = [str(native.program(PROGRAM)), "columns", *selection(process), plain(path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        assert program.stdout is not None
        assert program.stderr is not None
        try:
            yield from _chunks(program.stdout)
            reading.faults = int(_column(program.stdout, np.dtype(np.uint64), 1)[0])
        except EOFError:
            said = program.stderr.read()
            reading.failure = TraceError(complaint(PROGRAM, program.wait(), said))
            raise reading.failure from None
        finally:
            program.kill()


def _chunks(pipe: IO[bytes]) -> Iterator[pl.DataFrame]:
    names = [ROUTINES.get(number) for number in range(256)]
    while rows := int(_column(pipe, np.dtype(np.uint32), 1)[0]):
        columns = {name: _column(pipe, np.dtype(np.uint64), rows) for name in WORDS}
        columns |= {name: _column(pipe, np.dtype(np.uint32), rows) for name in HALVES}
        routines = pl.Series("routine", _column(pipe, np.dtype(np.uint8), rows))
        frame = pl.DataFrame(columns)
        yield frame.with_columns(
            routines.replace_strict(list(range(256)), names, return_dtype=schema()["routine"])
        )


def _column(pipe: IO[bytes], kind: np.dtype[np.generic], rows: int) -> np.ndarray:
    count = rows * kind.itemsize
    data = pipe.read(count)
    if len(data) < count:
        raise EOFError
    return np.frombuffer(data, dtype=kind)
