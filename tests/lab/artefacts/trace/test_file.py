# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Traces from Python: what they say of themselves, and their events as frames."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from heapwright.artefacts.trace.file import TraceError, check_trace, trace_info
from heapwright.artefacts.trace.frame import open_trace, schema, write_parquet

CALLS = 150_000


@pytest.fixture(scope="module")
def trace(
    tmp_path_factory: pytest.TempPathFactory, trace_of_text: Callable[[Path, str], Path]
) -> Path:
    """More calls than one chunk holds, by three threads."""
    lines = (f"{at % 3}: malloc {0x1000 + 64 * at:#x} {at % 1000}\n" for at in range(CALLS))
    return trace_of_text(tmp_path_factory.mktemp("trace"), "".join(lines))


def test_the_description_of_a_trace(trace: Path) -> None:
    info = trace_info(trace)
    assert (info.events, info.closed, info.stop, info.clock) == (CALLS, True, "none", "counted")
    assert [thread.events for thread in info.threads] == [CALLS // 3] * 3
    assert info.bytes == trace.stat().st_size
    assert info.bytes_per_event is not None
    assert info.bytes_per_event < 8


def test_events_as_a_frame(trace: Path) -> None:
    frame = open_trace(trace).collect()
    assert frame.schema == pl.Schema(schema())
    assert frame.height == CALLS
    assert frame["time"].is_sorted()
    assert frame["address"].to_list() == [0x1000 + 64 * at for at in range(CALLS)]
    assert frame["size"].sum() == sum(at % 1000 for at in range(CALLS))


def test_a_query_asks_for_little(trace: Path) -> None:
    few = open_trace(trace).filter(pl.col("size") == 7).select("size", "thread").head(5).collect()
    assert few.shape == (5, 2)
    assert set(few["size"]) == {7}
    assert open_trace(trace, process=1).collect().height == 0


def test_parquet_is_the_same_table(trace: Path, tmp_path: Path) -> None:
    write_parquet(trace, tmp_path / "calls.parquet")
    assert pl.read_parquet(tmp_path / "calls.parquet").equals(open_trace(trace).collect())


def test_parquet_where_nothing_can_be_written(trace: Path, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        write_parquet(trace, tmp_path / "nowhere" / "calls.parquet")
    with pytest.raises(OSError, match="No space left on device"):
        write_parquet(trace, Path("/dev/full"))


def test_damage_is_reported_with_its_offset(trace: Path, tmp_path: Path) -> None:
    data = bytearray(trace.read_bytes())
    hurt = data.index(b"HWBK\x01", 4096)
    data[hurt + 100] ^= 1
    copy = tmp_path / "hurt.trace"
    copy.write_bytes(data)
    check = check_trace(copy)
    assert check.fault_count >= 1
    assert check.faults[0].offset == hurt
    assert 0 < check.events < CALLS


@pytest.mark.usefixtures("trace")
@pytest.mark.parametrize(
    ("data", "message", "offset"),
    [
        (b"", "is empty", 0),
        (b"PK\x03\x04 something else", "no trace", 0),
        (b"HWTRACE\x1a\x02\0\0\0\x04\x03\x02\x01" + bytes(5000), "version 2", 8),
        (b"HWTRACE\x1a\x01\0\0\0\x04\x03\x02\x01", "ends within its header", 16),
    ],
)
def test_files_that_are_no_traces(tmp_path: Path, data: bytes, message: str, offset: int) -> None:
    (tmp_path / "file").write_bytes(data)
    for read in (trace_info, check_trace, open_trace):
        with pytest.raises(TraceError, match=message) as refusal:
            read(tmp_path / "file")
        assert refusal.value.offset == offset


def test_a_file_that_is_not_there(trace: Path) -> None:
    with pytest.raises(TraceError, match="No such file") as refusal:
        trace_info(trace.parent / "nothing")
    assert refusal.value.offset is None
