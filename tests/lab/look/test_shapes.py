# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Constructed heaps whose program states the truth: live bytes, and what a trim released."""

from pathlib import Path

import pytest

from heapwright.artefacts.look.document import Glibc
from heapwright.look.scan import Scan, scan_core, scan_process
from heapwright.look.verdict import heap_of

from .conftest import Start
from .core_file import write_core

SHAPES = (
    "small",
    "mixed",
    "pins",
    "freed-top",
    "thread-cache",
    "fast-bins",
    "fast-below-top",
    "mapped",
    "risen-threshold",
    "aligned",
    "aligned-mapped",
    "zeroed",
    "reallocated",
    "arenas",
    "retained",
    "ended",
    "foreign-free",
    "many-heaps",
    "foreign-break",
    "one-arena",
    "untouched",
    "sawtooth",
)
LIVE = 0.01
RELEASED = 0.05
LEAST_RELEASED = 32 << 10
"""Bytes of the program's own pages that may arrive meanwhile."""


def scanned(pid: int, *, pause: bool = False, leaks: bool = False) -> tuple[Scan, Glibc]:
    """A look that was permitted."""
    scan = scan_process(pid, pause=pause, leaks=leaks)
    assert isinstance(scan, Scan)
    assert scan.glibc is not None
    return scan, scan.glibc


def live_bytes(glibc: Glibc) -> int:
    """Usable bytes of all live blocks."""
    return sum(each.live.bytes for each in glibc.arenas) + glibc.mapped.bytes


@pytest.mark.parametrize("name", SHAPES)
def test_live_bytes_and_what_a_trim_releases_are_those_of_the_program(
    shape: Start, name: str
) -> None:
    with shape(name) as truth:
        scan, glibc = scanned(truth.pid)
        released = truth.ask("trim")
    assert glibc.is_whole
    assert glibc.parameters is not None
    assert glibc.parameters.mmaps == glibc.mapped.blocks
    assert sum(each.lost_bytes for each in glibc.arenas) == 0
    assert live_bytes(glibc) == pytest.approx(truth.bytes, rel=LIVE)
    predicted = sum(each.released_bytes for each in glibc.arenas)
    assert predicted == pytest.approx(released, rel=RELEASED, abs=LEAST_RELEASED)
    heap = heap_of(glibc, scan.categories)
    assert heap.live + heap.released + heap.thread_tops <= heap.resident * 1.01


@pytest.mark.parametrize("name", ["retained", "mapped", "freed-top"])
def test_a_static_program_without_symbols_has_the_same_figures(
    static_shape: Start, name: str
) -> None:
    with static_shape(name) as truth:
        _, glibc = scanned(truth.pid)
        released = truth.ask("trim")
    assert live_bytes(glibc) == pytest.approx(truth.bytes, rel=LIVE)
    predicted = sum(each.released_bytes for each in glibc.arenas)
    assert predicted == pytest.approx(released, rel=RELEASED, abs=LEAST_RELEASED)


@pytest.mark.parametrize("name", ["retained", "mapped", "freed-top"])
def test_a_pause_gives_the_same_figures(shape: Start, name: str) -> None:
    with shape(name) as truth:
        running, of_running = scanned(truth.pid)
        paused, of_paused = scanned(truth.pid, pause=True)
    assert of_paused == of_running
    assert paused.categories == running.categories
    assert paused.pause_ms is not None
    assert paused.copied_bytes >= truth.bytes * 0.9


@pytest.mark.parametrize("name", ["retained", "mapped", "foreign-break"])
def test_a_core_file_has_the_same_heap(shape: Start, name: str, tmp_path: Path) -> None:
    core = tmp_path / "core"
    with shape(name) as truth:
        _, glibc = scanned(truth.pid)
        write_core(truth.pid, core)
    found = scan_core(core, leaks=False)
    assert found.is_core
    assert found.missing_bytes == 0
    assert found.glibc is not None
    assert live_bytes(found.glibc) == live_bytes(glibc)
    predicted = sum(each.released_bytes for each in glibc.arenas)
    in_core = sum(each.released_bytes for each in found.glibc.arenas)
    assert in_core == pytest.approx(predicted, rel=RELEASED, abs=LEAST_RELEASED)


@pytest.mark.parametrize("pause", [False, True])
def test_blocks_without_a_pointer_are_found(shape: Start, pause: bool) -> None:
    with shape("lost") as truth:
        scan, _ = scanned(truth.pid, pause=pause, leaks=True)
    leaks = scan.leaks
    assert leaks is not None
    assert leaks.is_complete
    assert leaks.blocks == pytest.approx(truth.blocks * 2 / 3, abs=20)
    assert leaks.groups[0].block_bytes == 200


@pytest.mark.parametrize("name", ["mixed", "arenas", "mapped"])
def test_blocks_with_a_pointer_are_not_called_lost(shape: Start, name: str) -> None:
    with shape(name) as truth:
        scan, _ = scanned(truth.pid, leaks=True)
    assert scan.leaks is not None
    assert scan.leaks.searched_blocks >= truth.blocks
    assert scan.leaks.blocks <= 2


@pytest.mark.parametrize("pause", [False, True])
def test_the_cache_of_a_static_program_is_not_called_lost(static_shape: Start, pause: bool) -> None:
    with static_shape("mapped") as truth:
        scan, _ = scanned(truth.pid, pause=pause, leaks=True)
    assert scan.leaks is not None
    assert scan.leaks.searched_blocks >= truth.blocks
    assert scan.leaks.blocks == 0


def test_a_heap_that_changes_during_the_look_is_recognised(shape: Start) -> None:
    with shape("busy") as truth:
        for _ in range(5):
            _, glibc = scanned(truth.pid)
            assert sum(each.live.bytes for each in glibc.arenas) >= truth.bytes
            lost = sum(each.lost_bytes for each in glibc.arenas)
            assert lost <= 0.02 * sum(each.resident_bytes for each in glibc.arenas)
        assert truth.ask("check") == truth.blocks
