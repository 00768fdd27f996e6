# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Instructions of calls: counted call by call, exactly, and the same every time."""

import importlib
import re
import shutil
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from heapwright.artefacts.run.provenance import Allocator, Kind
from heapwright.base.native import library

FOLDER = Path(__file__).parents[2] / "benchmarks" / "calls"
GLIBC = Allocator(name="glibc", kind=Kind.SYSTEM)
MARK = b"\nI  00401136,"


def imported(name: str) -> ModuleType:
    """A script, with those of its folder that it imports."""
    sys.path.insert(0, str(FOLDER))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(FOLDER))


@pytest.fixture(scope="module")
def tail() -> ModuleType:
    return imported("tail")


@pytest.fixture(scope="module")
def fast_path() -> ModuleType:
    return imported("fast_path")


@pytest.fixture
def valgrind() -> None:
    if shutil.which("valgrind") is None or shutil.which("gcc") is None:
        pytest.skip("valgrind and gcc are needed (packages valgrind and gcc)")


def lines(*instructions: int) -> bytes:
    """The output of lackey: a mark, a number of instructions, a mark, a number …, with data
    between.
    """
    text = b"==1== a word before"
    for count in instructions:
        text += MARK + b"1"
        text += b"\nI  04978d61,2\n L 1fff000448,8" * count
    return text + b"\n"


def test_calls_between_marks_are_counted_at_any_end_of_a_chunk(tail: ModuleType) -> None:
    """Marks end calls and begin them in turn; the ninth begins a call that never ends."""
    text = lines(7, 100, 0, 100, 3, 100, 12, 1, 5)
    for size in (1, 2, 3, 17, 64, len(text)):
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        assert list(tail.between_marks(pieces, MARK)) == [7, 0, 3, 12], size


def test_objects_have_slots_while_they_live(tail: ModuleType) -> None:
    rows = [
        ("malloc", 100, 0, 10, 0),
        ("calloc", 200, 0, 20, 0),
        ("free", 100, 0, 0, 0),
        ("posix_memalign", 300, 0, 30, 64),
        ("realloc", 400, 200, 40, 0),
        ("realloc", 500, 0, 50, 0),
        ("delete", 999, 0, 0, 0),
        ("delete", 400, 0, 0, 0),
        ("valloc", 600, 0, 60, 0),
    ]
    events = [tail.EVENT.unpack(each) for each in tail.events_of(rows)]
    assert events[: tail.MARKS] == [(tail.NOTHING, 0, 0, 0)] * tail.MARKS
    assert events[tail.MARKS :] == [
        (tail.MALLOC, 1, 10, 0),
        (tail.CALLOC, 2, 20, 0),
        (tail.FREE, 1, 0, 0),
        (tail.MEMALIGN, 1, 30, 64),
        (tail.REALLOC, 2, 40, 0),
        (tail.MALLOC, 3, 50, 0),
        (tail.FREE, 2, 0, 0),
        (tail.MEMALIGN, 2, 60, tail.PAGE),
    ]


def test_a_percentile_is_a_count_that_was_there(tail: ModuleType) -> None:
    found = tail.tail("trace", "glibc", np.array([20] * 998 + [500, 9000]))
    assert (found.calls, found.mean) == (1000, pytest.approx(29.46))
    assert (found.p50, found.p99, found.p99_9, found.most) == (20, 20, 500, 9000)


@pytest.mark.usefixtures("valgrind")
def test_every_call_of_a_replay_is_counted_and_counts_repeat(
    tail: ModuleType, tmp_path: Path
) -> None:
    program = tail.compiled("marked.c", tmp_path, "-no-pie", "-fno-pie", "-fno-builtin")
    rows = [("malloc", 1, 0, 40, 0), ("free", 1, 0, 0, 0)] * 300
    rows += [("malloc", 2, 0, 1 << 14, 0), ("realloc", 3, 2, 1 << 15, 0)]
    events = tmp_path / "events"
    events.write_bytes(b"".join(tail.events_of(rows)))
    kingsley = Allocator(name="kingsley", kind=Kind.COMPOSED, path=str(library("kingsley")))
    for allocator in (GLIBC, kingsley):
        counts = tail.counts_of(program, events, allocator)
        assert len(counts) == len(rows)
        assert counts[2] > counts[4] or counts[0] > counts[4]  # the first one sets up
        assert set(counts[10:598:2]) == {counts[10]}
        assert set(counts[11:599:2]) == {counts[11]}
        assert 10 < counts[10] < 200
        assert counts[600] > counts[10]
        assert counts.tolist() == tail.counts_of(program, events, allocator).tolist()


@pytest.mark.usefixtures("valgrind")
def test_a_replay_that_cannot_be_is_an_error(tail: ModuleType, tmp_path: Path) -> None:
    events = tmp_path / "events"
    events.write_bytes(tail.EVENT.pack(tail.FREE, 7, 0, 0))
    with pytest.raises(tail.FailedError):
        tail.counts_of(tmp_path / "gone", events, GLIBC)


BUMP = """\
#include <string.h>
static char area[1 << 26];
static char* next = area;
void* malloc(unsigned long size) {
    char* object = next;
    next += (size + 15) & -16UL;
    return object;
}
void* calloc(unsigned long count, unsigned long size) { return malloc(count * size); }
void* realloc(void* old, unsigned long size) {
    void* object = malloc(size);
    return old ? memcpy(object, old, size) : object;
}
void free(void* object) { (void)object; }
"""


def instructions(text: str, function: str) -> int:
    """Of a function that runs through, as objdump prints it."""
    body = re.search(rf"<{function}>:\n(.*?ret)", text, re.DOTALL)
    assert body is not None
    return body[1].count("\n") + 1


@pytest.mark.usefixtures("valgrind")
def test_a_pair_is_counted_beyond_its_loop(fast_path: ModuleType, tmp_path: Path) -> None:
    """Both bodies, and for each a call and a jump through the table of linkage."""
    source, bump = tmp_path / "bump.c", tmp_path / "libbump.so"
    source.write_text(BUMP)
    words = ["-O2", "-shared", "-fPIC", "-fno-builtin", "-fcf-protection=none"]
    fast_path.output(["gcc", *words, str(source), "-o", str(bump)])
    text = fast_path.output(["objdump", "-d", "--no-show-raw-insn", str(bump)]).decode()
    expected = instructions(text, "malloc") + instructions(text, "free") + 2 * 2
    program = fast_path.compiled("pairs.c", tmp_path, "-fcf-protection=none")
    allocator = Allocator(name="bump", kind=Kind.PEER, path=str(bump))
    (pair,) = fast_path.measure(program, 64, [allocator])
    assert pair.alone == pytest.approx(expected, abs=0.01)
    assert pair.held == pytest.approx(expected, abs=1.01)


def test_memory_that_other_threads_freed_is_measured(tmp_path: Path) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("gcc is needed (package gcc)")
    frees = imported("remote_frees")
    program = frees.compiled("remote_frees.c", tmp_path, "-pthread")
    said = frees.output([str(program), "8", "2", "1", "2000"], frees.under(GLIBC)).decode()
    full, at_once, later = map(int, said.split(","))
    assert full > 8 << 20
    assert max(at_once, later) <= 2 * full
    with pytest.raises(frees.FailedError, match="usage"):
        frees.output([str(program), "8", "0", "1", "0"], frees.under(GLIBC))


def test_the_page_of_remote_frees_is_that_of_its_runs() -> None:
    frees = imported("remote_frees")
    folder = FOLDER.parents[1] / "docs" / "results" / "remote-frees"
    text = (folder / "runs.csv").read_text(encoding="utf-8")
    runs = frees.from_csv(text)
    assert frees.as_csv(runs) == text
    assert frees.as_table(runs) in (folder / "README.md").read_text(encoding="utf-8")
