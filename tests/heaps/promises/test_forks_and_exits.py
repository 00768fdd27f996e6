# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Forks while threads allocate, forks and handlers in each other, and tens of thousands of threads
that end. The C library is the control where it promises the same.
"""

from pathlib import Path

import pytest

from .building import PROMISING, assert_quiet_success, compiled, library


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("forks")


@pytest.mark.parametrize("allocator", ["glibc", *PROMISING])
def test_children_go_on_where_threads_allocate(folder: Path, allocator: str) -> None:
    program = str(compiled(folder, "forks.c"))
    assert_quiet_success([program, "storm", "100"], library(allocator))


@pytest.mark.parametrize(("scene", "count"), [("interrupted", 100), ("in-handlers", 300)])
@pytest.mark.parametrize("allocator", PROMISING)
def test_handlers_and_forks_meet(folder: Path, allocator: str, scene: str, count: int) -> None:
    program = str(compiled(folder, "forks.c"))
    assert_quiet_success([program, scene, str(count)], library(allocator))


# Those with checks take several times as long for each thread.
FEWER = {"granary-hardened", "granary-strict"}


@pytest.mark.parametrize(
    ("scene", "count"), [("storm", 50_000), ("inheritance", 500), ("cut-short", 4)]
)
@pytest.mark.parametrize("allocator", ["glibc", *PROMISING])
def test_threads_end_and_leave_nothing(
    folder: Path, allocator: str, scene: str, count: int
) -> None:
    program = str(compiled(folder, "exits.cpp"))
    some = 10_000 if scene == "storm" and allocator in FEWER else count
    assert_quiet_success([program, scene, str(some)], library(allocator))


@pytest.mark.slow
@pytest.mark.parametrize("allocator", sorted(FEWER))
def test_more_threads_end_and_leave_nothing(folder: Path, allocator: str) -> None:
    program = str(compiled(folder, "exits.cpp"))
    assert_quiet_success([program, "storm", "50000"], library(allocator))
