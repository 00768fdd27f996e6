# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Traces of other formats: what becomes of their calls, and what is refused with its place."""

import struct
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from heapwright.artefacts.trace.file import (
    TraceError,
    TraceFormat,
    check_trace,
    export_wl,
    import_trace,
    trace_info,
)
from heapwright.artefacts.trace.frame import open_trace
from heapwright.base.errors import HeapwrightError

MAIN = bytes([8, 9, 9, 9, 10, 2])  # nine pointers, nine signals, two threads


def number(value: int) -> bytes:
    groups = [value & 127]
    while value := value >> 7:
        groups.append(128 | (value & 127))
    return bytes(reversed(groups))


def wl(*threads: list[tuple[int, ...]]) -> bytes:
    streams = [b"".join(bytes([s[0]]) + b"".join(map(number, s[1:])) for s in t) for t in threads]
    streams = [stream + b"\x01" for stream in streams]
    offset = 6 + 2 * len(streams) + 1
    starts = b""
    for stream in streams:
        assert offset < 128
        starts += bytes([11, offset])
        offset += len(stream)
    return b"".join([bytes([8, 9, 9, 9, 10, len(streams)]), starts, b"\x01", *streams])


def rows(trace: Path, *columns: str) -> list[tuple[object, ...]]:
    return open_trace(trace).select(*columns).collect().rows()


def imported(folder: Path, data: bytes, source: TraceFormat) -> Path:
    (folder / "in").write_bytes(data)
    import_trace(folder / "in", folder / "made.trace", source)
    return folder / "made.trace"


def test_android_calls_come_back(trace: Path) -> None:
    assert rows(trace, "routine", "thread", "address", "old", "size", "alignment") == [
        ("malloc", 0, 0x7F0000, 0, 16, 0),
        ("calloc", 0, 0x8F0000, 0, 48, 0),
        ("free", 1, 0x7F0000, 0, 0, 0),
        ("realloc", 1, 0x900000, 0x8F0000, 99, 0),
        ("memalign", 0, 0x910000, 0, 300, 64),
        ("free", 1, 0, 0, 0, 0),
    ]
    assert rows(trace, "time") == [(100 * at,) for at in range(1, 7)]
    info = trace_info(trace)
    assert info.imported
    assert [thread.ended for thread in info.threads] == [True, True]


@pytest.mark.usefixtures("trace")
def test_android_times_are_kept(tmp_path: Path) -> None:
    text = b"1: malloc 0x10 5 1000 1200\n1: realloc 0x20 0x10 6 1500 1900\n1: free 0x20 2500 2600\n"
    made = imported(tmp_path, text, TraceFormat.ANDROID)
    assert rows(made, "began", "time") == [(200, 200), (500, 900), (1500, 1500)]


@pytest.mark.usefixtures("trace")
def test_wl_calls_get_addresses_of_their_own(tmp_path: Path) -> None:
    data = wl(
        [(2, 1, 300), (3, 2, 40), (12, 3, 4096, 8), (4, 1, 1, 700), (5, 2), (5, 0), (2, 0, 9)]
    )
    made = imported(tmp_path, data, TraceFormat.WL)
    found = rows(made, "routine", "size", "alignment")
    assert found == [
        ("malloc", 300, 0),
        ("calloc", 40, 0),
        ("memalign", 8, 4096),
        ("realloc", 700, 0),
        ("free", 0, 0),
        ("free", 0, 0),
        ("malloc", 9, 0),
    ]
    addresses = [row[0] for row in rows(made, "address")]
    assert len(set(addresses[:4])) == 4
    assert addresses[4] == addresses[1]
    assert addresses[5:] == [0, 0]
    assert addresses[2] % 4096 == 0
    assert rows(made, "old")[3][0] == addresses[0]
    assert trace_info(made).invented_addresses


@pytest.mark.usefixtures("trace")
def test_wl_threads_wait_for_their_signals(tmp_path: Path) -> None:
    giver = [(2, 1, 10), (2, 2, 20), (2, 3, 30), (6, 5)]
    taker = [(7, 5), (5, 1), (5, 3)]
    made = imported(tmp_path, wl(taker, giver), TraceFormat.WL)
    assert rows(made, "routine", "thread") == [("malloc", 1)] * 3 + [("free", 0)] * 2


@pytest.mark.usefixtures("trace")
def test_wl_with_missing_edges_goes_on(tmp_path: Path) -> None:
    """A free before its malloc waits. A number that never comes is counted, and nothing hangs."""
    early = [(5, 1), (7, 8), (5, 7), (2, 2, 1)]
    (tmp_path / "in").write_bytes(wl(early, [(2, 4, 10), (2, 1, 10), (2, 2, 10), (2, 2, 11)]))
    done = import_trace(tmp_path / "in", tmp_path / "made.trace", TraceFormat.WL)
    assert done.odd["waits for a signal that no thread gives"] == 1
    assert done.odd["frees of what is not live"] == 1
    assert done.odd["blocks freed because their number was filled again"] == 2
    found = rows(tmp_path / "made.trace", "routine", "thread", "address")
    frees = [at for at, row in enumerate(found) if row[0] == "free" and row[1] == 0]
    mallocs = [at for at, row in enumerate(found) if row[0] == "malloc" and row[1] == 1]
    assert found[frees[0]][2] == found[mallocs[1]][2]
    assert frees[0] > mallocs[1]


@pytest.mark.usefixtures("trace")
def test_mtrace_records(tmp_path: Path) -> None:
    def record(*fields: int) -> bytes:
        return struct.pack("<iIQQQQQQQ", *fields, *[0] * (9 - len(fields)))

    data = record(0, 255, 0x1234, 0, 8) + record(7, 1, 0, 0x1000, 24) + record(9, 0, 0, 0, 0)
    data += record(9, 4, 0x1000, 0x2000, 99) + record(7, 8, 0, 0x4000, 10, 64)
    data += record(7, 8, 12, 0x4000, 10, 64) + record(9, 3 | 0xFF00, 0x2000, 0, 0)
    made = imported(tmp_path, data, TraceFormat.MTRACE)
    assert rows(made, "routine", "thread", "address", "old", "size", "alignment") == [
        ("malloc", 0, 0x1000, 0, 24, 0),
        ("realloc", 1, 0x2000, 0x1000, 99, 0),
        ("posix_memalign", 0, 0x4000, 0, 10, 64),
        ("posix_memalign", 0, 0, 0, 10, 64),
        ("free", 1, 0x2000, 0, 0, 0),
    ]


LOG = b"""= Start
@ ./my program:(main+0x29)[0x1179] + 0x1000 0x18
@ ./p:[0x1180] + 0x2000 0
+ (nil) 0x20
@ ./p:[0x1181] < 0x1000
@ ./p:[0x1182] > 0x3000 0x63
@ ./p:[0x1183] ! 0x3000 0xffff
@ ./p:[0x1184] - 0x2000
@ ./p:[0x1185] - 0x9000
@ ./p:[0x1186] > 0x4000 0x8
@ ./p:[0x1187] < 0x4000
"""


@pytest.mark.usefixtures("trace")
def test_the_text_of_mtrace(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(LOG + b"@ ./p:[0x1188] + 0x50")
    done = import_trace(tmp_path / "in", tmp_path / "made.trace")
    assert rows(tmp_path / "made.trace", "routine", "address", "old", "size", "time") == [
        ("malloc", 0x1000, 0, 24, 100),
        ("malloc", 0x2000, 0, 0, 200),
        ("malloc", 0, 0, 32, 300),
        ("realloc", 0x3000, 0x1000, 99, 400),
        ("free", 0x2000, 0, 0, 500),
        ("free", 0x9000, 0, 0, 600),
        ("realloc", 0x4000, 0, 8, 700),
    ]
    assert done.odd == {
        "reallocs that failed": 1,
        "reallocs without a start": 1,
        "reallocs without an end": 1,
        "frees of blocks that the log does not allocate": 1,
        "a last line that is cut off": 1,
    }


BLOCKS = st.integers(1, 5).map(lambda number: 0x1000 * number)
CALLS = st.lists(
    st.one_of(
        st.tuples(st.just("+"), BLOCKS, st.integers(0, 2**64 - 1)),
        st.tuples(st.just("-"), BLOCKS, st.none()),
        st.tuples(st.just("<>"), BLOCKS, st.integers(0, 2**64 - 1)),
    )
)
PLACES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8)


@pytest.mark.usefixtures("trace")
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(CALLS, PLACES)
def test_any_text_of_mtrace_is_imported(
    tmp_path: Path, calls: list[tuple[str, int, int | None]], place: str
) -> None:
    """Each call is one event, for any name of the program."""
    lines = ["= Start"]
    for call, block, size in calls:
        at = f"@ ./{place}:[0x1] "
        if call == "<>":
            lines += [f"{at}< {block:#x}", f"{at}> {block + 16:#x} {size:#x}"]
        else:
            lines.append(f"{at}{call} {block:#x}" + ("" if size is None else f" {size:#x}"))
    made = imported(tmp_path, "\n".join([*lines, "= End", ""]).encode(), TraceFormat.MTRACE_TEXT)
    wanted = [
        ("realloc", block + 16, block, size)
        if call == "<>"
        else ({"+": "malloc", "-": "free"}[call], block, 0, size or 0)
        for call, block, size in calls
    ]
    assert rows(made, "routine", "address", "old", "size") == wanted


@pytest.mark.usefixtures("trace")
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, len(LOG)), st.binary(max_size=6))
def test_a_damaged_text_of_mtrace_is_read_or_refused(tmp_path: Path, at: int, junk: bytes) -> None:
    """It never crashes. A refusal names a byte of the file, and leaves no trace."""
    made = tmp_path / "made.trace"
    made.unlink(missing_ok=True)
    data = LOG[:at] + junk + LOG[at + 1 :]
    (tmp_path / "in").write_bytes(data)
    offset: int | None = 0
    try:
        import_trace(tmp_path / "in", made, TraceFormat.MTRACE_TEXT)
    except TraceError as refusal:
        offset = refusal.offset
    else:
        assert check_trace(made).fault_count == 0
    assert offset is not None
    assert offset <= len(data)


@pytest.mark.usefixtures("trace")
@pytest.mark.parametrize(
    ("source", "data", "message", "offset"),
    [
        (TraceFormat.WL, b"", "the file is empty", 0),
        (TraceFormat.WL, b"hello", "an unknown operation 104", 0),
        (TraceFormat.WL, b"\x02\x01\x01", "no .wl file", 0),
        (TraceFormat.WL, MAIN + b"\x0b\x70\x0b\x08", "behind the file's end", 6),
        (TraceFormat.WL, wl([(2, 1, 10)])[:-1], "cut off", 12),
        (TraceFormat.WL, wl([(2, 1, 2**63), (2, 1, 2**70)]), "more than 64 bits", 23),
        (TraceFormat.WL, b"\x08\x01\x0b\x07\x0b\x07\x01\x01", "two threads begin", 7),
        (TraceFormat.MTRACE, bytes(63), "ends within a record", 0),
        (TraceFormat.MTRACE, bytes(64), "no magic record", 0),
        (TraceFormat.MTRACE_TEXT, b"@ p:[0x1] - 0x1\n", "no log of mtrace", 0),
        (TraceFormat.MTRACE_TEXT, b"= Start\n@ p:[0x1] ? 0x1\n", "an unknown call", 18),
        (TraceFormat.MTRACE_TEXT, b"= Start\n@ p:[0x1] + 0x1\n", "should be a number", 23),
        (TraceFormat.ANDROID, b"1: malloc 0x10 5\n2: grow 0x10\n", "unknown operation", 19),
        (TraceFormat.ANDROID, b"1: malloc 0x10 five\n", "should be a number", 15),
        (TraceFormat.ANDROID, b"\n\nmalloc 5\n", "a thread's number", 2),
    ],
)
def test_a_damaged_file_is_refused_with_its_offset(
    tmp_path: Path,
    source: TraceFormat,
    data: bytes,
    message: str,
    offset: int,
) -> None:
    with pytest.raises(TraceError, match=message) as refusal:
        imported(tmp_path, data, source)
    assert refusal.value.offset == offset
    assert not (tmp_path / "made.trace").exists()


def test_wl_export_and_import_keep_the_events(tmp_path: Path, trace: Path) -> None:
    done = export_wl(trace, tmp_path / "out.wl")
    assert (done.events, done.threads, done.unknown_frees, done.replaced) == (6, 2, 0, 0)
    assert done.signals >= 2, "two blocks went from one thread to the other"
    import_trace(tmp_path / "out.wl", tmp_path / "back.trace")
    same = ("routine", "thread", "size", "alignment")
    assert sorted(rows(tmp_path / "back.trace", *same)) == sorted(rows(trace, *same))
    frame = open_trace(tmp_path / "back.trace").filter(pl.col("address") > 0).collect()
    for freed in frame.filter(pl.col("routine") == "free").iter_rows(named=True):
        born = frame.filter(
            (pl.col("address") == freed["address"]) & (pl.col("routine") == "malloc")
        )
        assert born.height == 1
        assert born["time"][0] < freed["time"]


def test_a_format_is_known_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(HeapwrightError, match="does not say what format"):
        import_trace(tmp_path / "x.dat", tmp_path / "y")


def test_nothing_replaces_the_file_that_is_read(trace: Path) -> None:
    before = trace.read_bytes()
    with pytest.raises(TraceError, match="replace the file"):
        import_trace(trace, trace, TraceFormat.WL)
    assert trace.read_bytes() == before
    assert check_trace(trace).fault_count == 0
