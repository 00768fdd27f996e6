# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The memory of 1,000 waiting threads that have used each size class once, as a process holds it.

`idle_threads_test.cpp` counts the memory inside the heap, and this the pages of the process.
"""

import os
from pathlib import Path

import pytest

from .building import compiled, library, run

FEW, MANY = 16, 1000
GOAL = 1.3


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """programs/many_threads.c, compiled."""
    return compiled(tmp_path_factory.mktemp("many"), "many_threads.c")


def held_kib(program: Path, allocator: str, threads: int) -> int:
    """What the objects of the threads hold: the growth without stacks and thread-local storage."""
    growth = []
    for rounds in (0, 1):
        done = run([str(program), str(threads), str(rounds)], library(allocator))
        assert done.returncode == 0, done.stderr
        growth.append(int(done.stdout))
    return growth[1] - growth[0]


@pytest.mark.parametrize("allocator", ["granary", "granary-strict"])
def test_1000_threads_hold_at_most_1_3_times_what_16_hold(program: Path, allocator: str) -> None:
    if 2 * (os.cpu_count() or 1) >= MANY // 4:
        pytest.skip("the machine has so many processors that 1,000 threads are few")
    few = held_kib(program, allocator, FEW)
    assert few > FEW * 64, "each of them has memory of its own"
    assert held_kib(program, allocator, MANY) <= GOAL * few


def test_the_measure_sees_the_memory_of_each_thread(program: Path) -> None:
    # glibc keeps a list for each thread and never returns it while the thread lives.
    assert held_kib(program, "glibc", MANY) > 4 * held_kib(program, "glibc", FEW)
