# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The program keeps the allocator that it has, and the recorder is in front of any."""

from pathlib import Path

import polars as pl
import pytest

from heapwright.base import native
from heapwright.base.errors import HeapwrightError
from support.running import ran

from .bench import Bench, environment

FOLDERS = [
    Path("/usr/lib/x86_64-linux-gnu"),
    Path("/usr/lib/aarch64-linux-gnu"),
    Path("/usr/lib64"),
]
OURS = ["kingsley", "lea", "hoard-3.8", "miser", "ptmalloc3", "vmalloc"]
PEERS = {
    "libjemalloc.so.2": "libjemalloc2",
    "libtcmalloc_minimal.so.4": "libtcmalloc-minimal4",
    "libmimalloc.so.2": "libmimalloc2.0",
    "libtbbmalloc_proxy.so.2": "libtbbmalloc2",
}


def library_of(name: str) -> Path:
    if name in OURS:
        try:
            return native.library(name)
        except HeapwrightError as error:
            pytest.skip(str(error))
    for folder in FOLDERS:
        if (folder / name).exists():
            return folder / name
    pytest.skip(f"{name} is not installed (package {PEERS[name]})")


@pytest.mark.parametrize("name", [*OURS, *PEERS])
def test_the_same_calls_are_recorded_under_each(recording: Bench, endings: Path, name: str) -> None:
    library = library_of(name)
    run = recording.record([endings, "exit", "3000"], behind=[library])
    assert run.said["exit_status"] == 5
    assert run.said["lost"] == 0
    recording.sound(run)
    blocks = run.of_size(1000)
    assert blocks.height == 3000
    assert (blocks["usable"] >= 1000).all()
    kept = [size for size in run.live().values() if size == 1000]
    assert len(kept) == 300


@pytest.mark.parametrize("name", [*OURS, *PEERS])
def test_threads_under_each(recording: Bench, name: str) -> None:
    library = library_of(name)
    run = recording.record([recording.program("threads.c"), "20", "5"], behind=[library])
    assert run.said["exit_status"] == 0
    recording.sound(run)
    assert run.of_size(111).height == 100


@pytest.mark.parametrize("name", [*OURS, *PEERS])
def test_operators_under_each(recording: Bench, name: str) -> None:
    library = library_of(name)
    program = recording.program("operators.cpp")
    extra = {"LD_PRELOAD": str(library)}
    alone = ran([program], env=environment() | extra)
    run = recording.record([program], behind=[library])
    assert run.out == alone.stdout  # one of the peers ends the program where others throw
    recording.sound(run)
    operators = run.events().filter(pl.col("size").is_between(111, 117))
    assert operators.filter(pl.col("routine").cast(pl.String).str.starts_with("new")).height == 7


def test_the_allocator_is_the_one_that_was_asked_for(recording: Bench, endings: Path) -> None:
    plain = recording.record([endings, "exit"])
    own = recording.record([endings, "exit"], behind=[library_of("kingsley")])
    assert set(plain.of_size(1000)["usable"]) == {1000}
    assert set(own.of_size(1000)["usable"]) == {1016}  # a block of 1,024 with a word before it


@pytest.mark.parametrize("options", [(), ("--stacks",), ("--sample", "2")])
def test_requests_of_the_allocator_itself_are_not_recorded(
    recording: Bench, endings: Path, options: tuple[str, ...]
) -> None:
    asks = recording.program("asks_itself.c", "-shared", "-fPIC")
    run = recording.record([endings, "exit", "3000"], *options, behind=[asks])
    assert run.said["exit_status"] == 5
    assert run.said["lost"] == 0
    recording.sound(run)
    assert run.of_size(1000).height > 0
    assert run.of_size(777).height == 0


def test_handlers_that_allocate_in_the_middle_of_everything(recording: Bench) -> None:
    program = recording.program("interrupted.c")
    run = recording.record([program], behind=[library_of("kingsley")])
    assert run.said["exit_status"] == 0
    recording.sound(run)
    handled = run.of_size(555).height
    assert 0 < handled <= 300 + 5
    # What came in the middle of a record is passed on and counted: by the thread and in all.
    assert run.said["lost"] >= sum(thread.lost for thread in run.info.threads)


def test_a_library_that_binds_to_its_own_malloc_first(recording: Bench) -> None:
    plugin = recording.program("plugin.c", "-shared", "-fPIC")
    run = recording.record([recording.program("plugin_host.c"), plugin])
    assert run.said["exit_status"] == 0
    made = run.of_size(888)
    assert made.height == 1
    freed = run.events().filter(pl.col("address") == made["address"][0])
    assert freed["routine"].to_list() == ["malloc", "free"]


def test_a_free_of_what_was_never_given_out_is_written_before_it_kills(recording: Bench) -> None:
    run = recording.record([recording.program("invalid_free.c")])
    assert run.said["signal"] == 6
    recording.sound(run)
    last = run.events().row(-1, named=True) if run.said["events"] == 3 else None
    frees = run.events().filter(pl.col("routine") == "free")
    assert frees.height >= 2
    strange = set(frees["address"]) - set(
        run.events().filter(pl.col("routine") == "malloc")["address"]
    )
    assert len(strange) == 1
    assert last is None or last["address"] in strange
