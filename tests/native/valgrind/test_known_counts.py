# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Allocators that are built so that their counts are known: each figure must be just that."""

import os
import re
import subprocess
from pathlib import Path

from heapwright.experiment import instrument

from .conftest import Counter, Workbench

THREADS = 3
EACH = 200
PAIRS = THREADS * EACH


def test_an_allocator_without_locks_and_shared_lines_has_none(count: Counter) -> None:
    counts = count("lockless", "threads", THREADS, EACH)
    assert counts.complete, counts.reason
    assert counts.locked_instructions == 0
    assert counts.shared_metadata_lines == 0
    assert counts.writes_to_shared_lines == 0
    # A header before each object, in a line that the object, too, is in; and the positions.
    assert PAIRS <= counts.metadata_lines <= PAIRS + 30
    assert counts.provider.endswith("liblockless.so")


def test_every_locked_instruction_is_counted_and_nothing_else(count: Counter) -> None:
    counts = count("locks", "threads", THREADS, EACH)
    assert counts.complete, counts.reason
    assert counts.lock_prefixed == 2 * PAIRS
    # The C library frees nothing before the program's end, where its threads' stacks stay.
    assert counts.exchanges == PAIRS
    assert counts.shared_metadata_lines == 0


def test_a_line_that_all_threads_write_is_found(count: Counter) -> None:
    counts = count("counter", "threads", THREADS, EACH)
    assert counts.complete, counts.reason
    assert counts.threads == THREADS + 1
    assert counts.shared_metadata_lines == 1
    assert counts.writes_to_shared_lines == PAIRS
    assert counts.locked_instructions == 0


def test_one_thread_shares_no_lines(count: Counter) -> None:
    counts = count("counter", "threads", 0, EACH)
    assert counts.threads == 1
    assert counts.shared_metadata_lines == 0
    assert counts.calls == 2 * EACH


def test_links_in_freed_objects_are_the_allocators(count: Counter) -> None:
    counts = count("linked", "threads", 2, 50, "after")
    assert counts.complete, counts.reason
    # The program writes the objects, too, but only while they are its own.
    assert counts.shared_metadata_lines == 50 + 1
    assert counts.writes_to_shared_lines == 2 * (50 + 2 * 50)


def test_the_programs_zeros_and_copies_are_not_the_allocators(count: Counter) -> None:
    counts = count("plain", "zeroed")
    assert counts.complete, counts.reason
    assert counts.shared_metadata_lines == 0
    assert counts.metadata_lines < 20


def test_instructions_inside_are_counted_to_the_last(count: Counter) -> None:
    counts = count("seven_instructions", "threads", 0, EACH)
    assert counts.instructions == 7 * EACH
    assert counts.per_call(counts.instructions) == 3.5
    longer = count("seven_instructions", "threads", 0, 3 * EACH, operations=6 * EACH)
    assert longer.per_thousand(longer.instructions) == 3500
    more = longer.beyond(counts)
    assert (more.calls, more.instructions) == (4 * EACH, 14 * EACH)
    assert more.operations is None, "the shorter one did not say how many it did"


def test_callgrind_counts_the_same_instructions(workbench: Workbench, tmp_path: Path) -> None:
    # Bound at once, for callgrind tells differently what the dynamic linker does inside malloc.
    library = workbench.library("locks", "-Wl,-z,now")
    command = [str(workbench.program("threads")), "0", str(EACH)]
    counts = instrument.count(library, os.environ, command)
    callgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={tmp_path / 'counts'}"]
    done = subprocess.run(
        [*callgrind, "--toggle-collect=malloc", "--toggle-collect=free", *command],
        env={**os.environ, "LD_PRELOAD": str(library)},
        capture_output=True,
        text=True,
        check=True,
    )
    collected = re.search(r"Collected : (\d+)", done.stderr)
    assert collected, done.stderr
    assert counts.instructions == int(collected[1]) > 10 * EACH


def test_an_exception_leaves_the_allocator(count: Counter) -> None:
    turns = 20_000
    counts = count(None, "throws", turns)
    assert counts.complete, counts.reason
    # Throwing takes some 34,000 instructions, a turn of the program's loop at least four.
    assert 0 < counts.instructions < 4 * turns, "the program's own loop was counted"
