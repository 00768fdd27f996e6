# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The heap of mimalloc is walked exactly, or only its bounds are given."""

import json
import os
import random
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from heapwright.artefacts.allocator.user_registry import built_peers
from heapwright.artefacts.look.document import Kind, Look
from heapwright.base import native
from heapwright.base.errors import ExitCode
from heapwright.base.paths import below
from heapwright.commands import look
from heapwright.commands.look import Options, run_look
from heapwright.look import mimalloc
from heapwright.look.mimalloc import mapped_version, spelled, version_in

from .conftest import Shape, Start, compiled

SYSTEM = "libmimalloc.so.2"
PEERS = built_peers(os.environ)
NEWEST = str(PEERS / "libmimalloc2-latest.so")
VERSION_3 = str(PEERS / "libmimalloc-latest.so")
VERSIONS = pytest.mark.parametrize(
    "library",
    [
        pytest.param(SYSTEM, id="2.0.9"),
        pytest.param(NEWEST, id="2.3.2", marks=pytest.mark.slow),
    ],
)
SHAPES = ("mixed", "mapped", "ended", "foreign-free", "retained")
SEGMENT = 32 << 20
SLICE = 64 << 10
HEAD = 264
PAGE = 80
PAGES = 512
"""Of version 2.0.9: bytes before the table of pages, of an entry, and entries."""
USED, COOKIE, SLICES, KIND = 208, 216, 224, 240
CAPACITY, FREE, PAGE_USED, BLOCK_BYTES, HEAP = 10, 16, 24, 28, 48
HEAP_PAGES = 3024


@pytest.fixture
def peers() -> None:
    if not PEERS.is_dir():
        pytest.skip("needs the newest allocators (make peers)")


def scan(pid: int, *options: str, version: int | None = None) -> dict[str, Any]:
    number = mapped_version(pid) if version is None else version
    words = [str(native.program("look")), "--no-leaks", "--mimalloc", str(number), *options]
    done = subprocess.run([*words, str(pid)], capture_output=True, check=True)
    found = json.loads(done.stdout)["mimalloc"]
    assert found is None or isinstance(found, dict)
    return found or {}


def look_at(shape: Shape, folder: Path) -> Look:
    file = folder / "look.json"
    options = Options(str(shape.pid), pause=False, leaks=False, json_file=str(file), quiet=True)
    assert run_look(options) is ExitCode.OK
    return Look.from_json(file.read_text(encoding="utf-8"))


@VERSIONS
@pytest.mark.parametrize("name", SHAPES)
def test_live_bytes_are_those_of_the_program(shape: Start, library: str, name: str) -> None:
    """Threads of the C library have a block or two of their own."""
    with shape(name, LD_PRELOAD=library) as truth:
        found = scan(truth.pid)
    assert found["problem"] == ""
    assert truth.bytes <= found["live"]["bytes"] <= 1.01 * truth.bytes
    assert truth.blocks <= found["live"]["blocks"] <= truth.blocks + 16


@VERSIONS
def test_live_bytes_are_those_of_its_own_statistics(tmp_path: Path, library: str) -> None:
    program = compiled(tmp_path, "visits", "-ldl")
    with subprocess.Popen(
        [str(program)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={"LD_PRELOAD": library},
    ) as process:
        assert process.stdout is not None
        blocks, size = map(int, process.stdout.readline().split())
        found = scan(process.pid)
        process.kill()
    assert blocks > 20000
    assert found["live"] == {"blocks": blocks, "bytes": size}


def test_the_verdict_has_the_counters(shape: Start, tmp_path: Path) -> None:
    with shape("small", LD_PRELOAD=SYSTEM) as truth:
        found = look_at(truth, tmp_path)
        paused = scan(truth.pid, "--pause")
    assert found.foreign is not None
    assert found.foreign.counters is not None
    assert found.foreign.counters.version == "2.0.9"
    assert found.foreign.counters.live.bytes == truth.bytes == paused["live"]["bytes"]
    assert found.foreign.counters.resident_bytes <= found.foreign.most_resident_bytes
    assert found.verdict.kind is Kind.LIVE


@pytest.mark.parametrize(
    ("number", "why"),
    [
        (212, "the layout of mimalloc 2.1.2 is unknown"),
        (0, "the version of mimalloc is unknown; only a library states it"),
    ],
)
def test_an_unknown_version_gives_the_bounds(
    shape: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, why: str
) -> None:
    monkeypatch.setattr(look, "mapped_version", lambda _: number)
    with shape("small", LD_PRELOAD=SYSTEM) as truth:
        found = look_at(truth, tmp_path)
    assert found.foreign is not None
    assert found.foreign.counters is None
    assert found.foreign.unread == why
    assert truth.bytes <= found.foreign.most_resident_bytes
    assert found.verdict.kind is Kind.UNKNOWN
    assert found.foreign.unread in found.verdict.sentence


def test_the_layout_of_another_version_agrees_with_nothing(shape: Start) -> None:
    with shape("mixed", LD_PRELOAD=SYSTEM) as truth:
        assert scan(truth.pid, version=20302)["problem"]


@pytest.mark.slow
@pytest.mark.usefixtures("peers")
def test_the_layouts_of_two_versions_agree_with_no_other(shape: Start, tmp_path: Path) -> None:
    with shape("mixed", LD_PRELOAD=NEWEST) as truth:
        assert scan(truth.pid, version=209)["problem"]
    with shape("mixed", LD_PRELOAD=VERSION_3) as truth:
        assert scan(truth.pid, version=209)["problem"]
        assert scan(truth.pid, version=20302)["problem"]
        found = look_at(truth, tmp_path)
    assert found.foreign is not None
    assert found.foreign.counters is None
    assert "the layout of mimalloc 3." in found.foreign.unread


def test_only_a_constant_is_a_version(shape: Start, tmp_path: Path) -> None:
    with shape("small", LD_PRELOAD=SYSTEM) as truth:
        assert mapped_version(truth.pid) == 209
        maps = Path(f"/proc/{truth.pid}/maps").read_text(encoding="utf-8").split()
    library = next(each for each in maps if "libmimalloc" in each)
    (tmp_path / "damaged").write_bytes(Path(library).read_bytes()[:4000])
    assert version_in(tmp_path / "damaged") == 0
    assert version_in(native.library("recorder")) == 0
    assert version_in(tmp_path) == 0
    assert (spelled(20302), spelled(209)) == ("2.3.2", "2.0.9")


@pytest.mark.parametrize("folder", ["plain", "\x0b\x1c\x85\u2028\r"])
def test_the_library_may_be_in_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    library = f"/{folder}/libmimalloc.so.2"
    (tmp_path / "7").mkdir()
    row = f"7f0000000000-7f0000001000 r-xp 00000000 00:1f 5 {library}\n"
    (tmp_path / "7" / "maps").write_bytes(row.encode())
    versions = {below(tmp_path / "7" / "root", library): 209}
    monkeypatch.setattr(mimalloc, "version_in", lambda file: versions.get(file, 0))
    assert mapped_version(7, tmp_path) == 209


class Segment:
    """The first segment of a process under version 2.0.9, as something to damage."""

    def __init__(self, pid: int) -> None:
        self._memory = Path(f"/proc/{pid}/mem")
        self.at = next(each for each in _aligned(pid) if self.word(each + COOKIE))
        entries = (self.at + HEAD + number * PAGE for number in range(1, PAGES))
        self.page = next(each for each in entries if self.number(each + BLOCK_BYTES, "<I") > 1)

    def word(self, at: int) -> int:
        return self.number(at, "<Q")

    def number(self, at: int, form: str) -> int:
        with self._memory.open("rb", buffering=0) as memory:
            memory.seek(at)
            (value,) = struct.unpack(form, memory.read(struct.calcsize(form)))
            return int(value)

    @contextmanager
    def damaged(self, at: int, value: int, form: str = "<Q") -> Iterator[None]:
        """Another value at the address meanwhile."""
        before = self._write(at, struct.pack(form, value & (1 << 8 * struct.calcsize(form)) - 1))
        yield
        self._write(at, before)

    def _write(self, at: int, content: bytes) -> bytes:
        with self._memory.open("r+b", buffering=0) as memory:
            memory.seek(at)
            before = memory.read(len(content))
            memory.seek(at)
            memory.write(content)
        return before


def _aligned(pid: int) -> Iterator[int]:
    for line in Path(f"/proc/{pid}/maps").read_text(encoding="utf-8").splitlines():
        words = line.split()
        begin, end = (int(each, 16) for each in words[0].split("-"))
        first = (begin + SEGMENT - 1) // SEGMENT * SEGMENT
        if len(words) == 5 and words[1] == "rw-p":
            yield from range(first, end, SEGMENT)


def test_a_damaged_structure_gives_the_bounds_only(shape: Start, tmp_path: Path) -> None:
    with shape("mixed", LD_PRELOAD=SYSTEM) as truth:
        segment = Segment(truth.pid)
        page, heap = segment.page, segment.word(segment.page + HEAP)
        places = {
            "cookie": (segment.at + COOKIE, 1, "<Q"),
            "pages of the segment": (segment.at + USED, 3, "<Q"),
            "kind": (segment.at + KIND, 7, "<I"),
            "another kind": (segment.at + KIND, 1, "<I"),
            "a span": (page, 100, "<I"),
            "capacity": (page + CAPACITY, 9, "<H"),
            "used blocks": (page + PAGE_USED, 5000, "<I"),
            "size of blocks": (page + BLOCK_BYTES, 4096, "<I"),
            "free list": (page + FREE, segment.at, "<Q"),
            "owner": (page + HEAP, segment.at, "<Q"),
            "pages of the heap": (heap + HEAP_PAGES, 1, "<Q"),
        }
        assert scan(truth.pid)["problem"] == ""
        for name, (at, value, form) in places.items():
            with segment.damaged(at, value, form):
                found = scan(truth.pid)
            assert found["problem"], name
            assert found["live"] == {"blocks": 0, "bytes": 0}, name
        with segment.damaged(page + PAGE_USED, 5000, "<I"):
            document = look_at(truth, tmp_path)
    assert document.foreign is not None
    assert document.foreign.counters is None
    assert "changed during the look, or is damaged" in document.foreign.unread
    assert document.verdict.kind is Kind.UNKNOWN
    assert truth.bytes <= document.foreign.most_resident_bytes


def test_a_segment_larger_than_its_memory_is_none(shape: Start) -> None:
    """Its last byte is in the stack."""
    with shape("mixed", LD_PRELOAD=SYSTEM) as truth:
        segment = Segment(truth.pid)
        maps = Path(f"/proc/{truth.pid}/maps").read_text(encoding="utf-8").splitlines()
        end = next(int(line[13:25], 16) for line in maps if line.endswith("[stack]"))
        slices = (end - segment.at) // SLICE
        with (
            segment.damaged(segment.at + KIND, 1, "<I"),
            segment.damaged(segment.at + SLICES, slices),
        ):
            found = scan(truth.pid)
    assert found["problem"] == "a segment is larger than its memory"


def test_a_count_may_be_wrong_by_one_block_of_several(shape: Start) -> None:
    """A thread may be moving a block. Then it is in no list."""
    with shape("mixed", LD_PRELOAD=SYSTEM) as truth:
        segment = Segment(truth.pid)
        used = segment.number(segment.page + PAGE_USED, "<I")
        right = scan(truth.pid)["live"]["blocks"]
        with segment.damaged(segment.page + PAGE_USED, used - 1, "<I"):
            assert scan(truth.pid)["live"]["blocks"] == right - 1
        with segment.damaged(segment.page + PAGE_USED, used - 2, "<I"):
            assert scan(truth.pid)["problem"]


def test_the_count_of_a_single_block_is_exact(shape: Start) -> None:
    with shape("mapped", LD_PRELOAD=SYSTEM) as truth:
        segment = Segment(truth.pid)
        assert segment.number(segment.page + CAPACITY, "<H") == 1
        assert segment.number(segment.page + PAGE_USED, "<I") == 1
        with segment.damaged(segment.page + PAGE_USED, 0, "<I"):
            assert scan(truth.pid)["problem"]


@pytest.mark.parametrize("words", ["abc 1", "0 1", "9x 1", "-1 1", "1", "209 --core core"])
def test_a_version_is_a_number_and_belongs_to_a_process(words: str) -> None:
    command = [str(native.program("look")), "--mimalloc", *words.split()]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "[--mimalloc VERSION] PID | [--no-leaks] --core FILE" in done.stderr


@pytest.mark.slow
def test_no_word_of_a_segment_changes_the_figures(shape: Start) -> None:
    """Each word of the head and of used entries: the walk fails, or its figures are right."""
    draw = random.Random(3)
    with shape("mixed", LD_PRELOAD=SYSTEM) as truth:
        segment = Segment(truth.pid)
        right = scan(truth.pid)["live"]
        places = [*range(segment.at, segment.at + HEAD, 8)]
        places += range(segment.page, segment.page + 12 * PAGE, 8)
        for at in places:
            for value in (0, 1, draw.getrandbits(16), draw.getrandbits(64)):
                with segment.damaged(at, value):
                    found = scan(truth.pid)
                assert found["problem"] or found["live"] == right, (hex(at - segment.at), value)
