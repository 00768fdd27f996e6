# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What `heapwright compose` refuses: in one line, and with nothing left behind."""

from pathlib import Path

import pytest

from heapwright.base.errors import ExitCode

from .compositions import OWN_RUNGS, installed, write_own
from .tools import Heapwright

pytestmark = pytest.mark.usefixtures("native", "cxx")

REFUSALS = [
    (("lea", "--type", "MmapHeap"), "lea is in the catalogue already"),
    (("jemalloc", "--type", "MmapHeap"), "jemalloc is in the catalogue already"),
    (("../x", "--type", "MmapHeap"), "'../x' is no name for an allocator"),
    (("x",), "there is nothing to make x from"),
    (("x", "--type", "MmapHeap", "--from", "lea"), "there is several things to make x from"),
    (("x", "--type", "MmapHeap", "--remove", "Y"), "edits need --from ALLOCATOR"),
    (("x", "--type", "int"), "there is no layer, policy or rung called 'int'"),
    (
        ("x", "--type", "CoalesceHeep<1, MmapHeap>"),
        "no layer, policy or rung called 'CoalesceHeep'",
    ),
    (("x", "--type", "SizeHeap"), "SizeHeap takes 1 argument, SizeHeap<SuperHeap>, and is given 0"),
    (("x", "--type", "SizeHeap<MmapHeap"), "a > is missing"),
    (("x", "--from", "jemalloc"), "jemalloc is not made of layers"),
    (("x", "--from", "glibc"), "glibc is not made of layers"),
    (("x", "--from", "kingsly"), "unknown allocator 'kingsly'"),
    (("x", "--from", "lea", "--insert", "SizeHeap"), "--insert SizeHeap needs --below LAYER"),
    (("x", "--from", "lea", "--remove", "Foo"), "there is no Foo in it"),
    (("x", "--file", "none.hpp"), "none.hpp cannot be read: No such file"),
    (("x", "--file", "/"), "/ is a folder"),
    (("x", "--file", "/proc/self/exe"), "is not a text in UTF-8"),
    (("x", "--file", "/dev/null"), "there is no rung in /dev/null"),
    (("x", "--type", "MmapHeap", "--compiler", "no-such"), "there is no compiler 'no-such'"),
    (("x", "--type", "MmapHeap", "--compiler", "true"), "true does not compile C++"),
    (("--delete", "lea"), "lea is in the catalogue and not yours"),
    (("--delete", "x"), "you have composed no 'x'"),
    (("--delete", "x", "--type", "MmapHeap"), "--delete takes a name and nothing else"),
]


@pytest.mark.parametrize(("arguments", "why"), REFUSALS, ids=[each[1] for each in REFUSALS])
def test_bad_input_is_one_line(
    arguments: tuple[str, ...], why: str, heapwright: Heapwright, tmp_path: Path
) -> None:
    done = heapwright("compose", *arguments)
    assert done.status == ExitCode.BAD_INPUT
    first = done.err.splitlines()[0]
    assert first.startswith("heapwright: ")
    assert why in first
    assert done.out == ""
    assert installed(tmp_path / "home") == []


@pytest.mark.compiles
def test_a_wrong_stack_is_one_line_before_the_pages(heapwright: Heapwright, tmp_path: Path) -> None:
    wrong = "LockedHeap<FutexLock, CoalesceHeap<64 * KiB, ChunkHeap<64 * KiB, 8, MmapHeap>>>"
    done = heapwright("compose", "x", "--type", wrong)
    assert done.status == ExitCode.BAD_INPUT
    line, hint = done.err.splitlines()
    assert line == (
        "heapwright: CoalesceHeap needs a SpanHeap below it (isWholeSpan, shrink, extend), and "
        "ChunkHeap is none; CoalesceableHeap gives one"
    )
    log = Path(hint.removeprefix("  all that the compiler says: "))
    assert "error:" in log.read_text("utf-8")
    assert log.is_relative_to(tmp_path / "home")
    loud = heapwright("compose", "x", "--type", wrong, "--verbose")
    assert loud.err.rstrip().endswith(line)
    assert "error:" in loud.err
    assert installed(tmp_path / "home") == []


@pytest.mark.compiles
@pytest.mark.parametrize(
    ("change", "line"),
    [
        (
            ("PaddedHeap<Blocks>", "CoalesceHeap<128 * KiB, MmapHeap>"),
            "CoalesceHeap needs a SpanHeap",
        ),
        (("CoalesceHeap<128 * KiB", "CoalesceHeap<100"), "CoalesceHeap<100>: it demands Growth %"),
        (("} // namespace mine", "int x = ;\n}"), "rungs.hpp:9: expected"),
        (('"parts/', '"../parts/'), "rungs.hpp:3: ../parts/padded_heap.hpp: No such file"),
        (("using Padded = PaddedHeap<Blocks>;", "using Padded = FutexLock;"), ""),
    ],
)
def test_a_header_that_does_not_compile(
    change: tuple[str, str], line: str, heapwright: Heapwright, tmp_path: Path
) -> None:
    header = write_own(tmp_path / "sources")
    header.write_text(OWN_RUNGS.replace(*change))
    done = heapwright("compose", "x", "--file", header, *(() if line else ("--type", "Padded")))
    assert done.status == ExitCode.BAD_INPUT
    assert (line or "FutexLock is no heap") in done.err.splitlines()[0]
    assert installed(tmp_path / "home") == []


@pytest.mark.compiles
def test_an_incomplete_composition_names_the_requested_allocator(
    heapwright: Heapwright, tmp_path: Path
) -> None:
    done = heapwright("compose", "x", "--type", "ObstackHeap<4 * KiB, MmapHeap>")
    assert done.status == ExitCode.BAD_INPUT
    assert done.err.startswith(
        "heapwright: ObstackHeap<4 * KiB> cannot replace malloc: SignalSafeHeap needs an "
        "AnyOrderHeap below it (a heap that takes objects back in any order)"
    )
    assert installed(tmp_path / "home") == []


@pytest.mark.compiles
def test_a_rung_that_cannot_be_completed_is_named(heapwright: Heapwright, tmp_path: Path) -> None:
    """The generated rungs stand beyond the end of the file, where the user has no line."""
    header = tmp_path / "own.hpp"
    header.write_text(
        "#pragma once\n#include <heapwright/heap.hpp>\nnamespace shop {\n"
        "using namespace heapwright;\nusing Pieces = CoalesceHeap<64 * KiB, "
        "CoalesceableHeap<MmapHeap>>;\nusing Lists = FreelistHeap<Pieces>;\n}\n"
    )
    done = heapwright("compose", "x", "--file", header)
    assert done.status == ExitCode.BAD_INPUT
    assert "hpp:" not in done.err.splitlines()[-2]
    assert (
        "heapwright: shop::Lists: FreelistHeap cannot replace malloc: AlignHeap needs an "
        "AnySizeHeap below it"
    ) in done.err
    assert installed(tmp_path / "home") == []


@pytest.mark.compiles
def test_the_duties_of_malloc_are_tested(heapwright: Heapwright, tmp_path: Path) -> None:
    done = heapwright("compose", "x", "--type", "BoundedHeap<16 * MiB, lea::Checked>")
    assert done.status == ExitCode.BAD_INPUT
    lines = done.err.splitlines()
    assert "it compiles, but does not do what malloc must" in lines[0]
    assert any(line.startswith("  alignment: malloc gave nothing") for line in lines[1:])
    assert installed(tmp_path / "home") == []


@pytest.mark.compiles
def test_the_first_error_in_the_users_file_is_shown(heapwright: Heapwright, tmp_path: Path) -> None:
    header = write_own(tmp_path / "sources")
    layer = tmp_path / "sources" / "parts" / "padded_heap.hpp"
    text = layer.read_text().replace("SuperHeap::malloc(", "SuperHeap::maloc(")
    layer.write_text(
        text.replace("    static constexpr std::string_view caption", "    // caption")
    )
    done = heapwright("compose", "x", "--file", header)
    assert done.status == ExitCode.BAD_INPUT
    first = done.err.splitlines()[0]
    number = 1 + text[: text.index("maloc")].count("\n")
    assert first.startswith(f"heapwright: parts/padded_heap.hpp:{number}: ")
    assert "maloc" in first
    assert "declared" not in first
    assert installed(tmp_path / "home") == []


@pytest.mark.compiles
def test_a_size_that_a_rung_on_top_hides_is_checked(heapwright: Heapwright, tmp_path: Path) -> None:
    header = write_own(tmp_path / "sources")
    layer = tmp_path / "sources" / "parts" / "padded_heap.hpp"
    text = layer.read_text().replace("    static constexpr bool tagged = true;\n", "")
    stated = "return SuperHeap::getSize(object);"
    assert stated in text
    layer.write_text(text.replace(stated, "return SuperHeap::getSize(object) + 64;"))
    done = heapwright("compose", "x", "--file", header)
    assert done.status == ExitCode.BAD_INPUT
    assert "1 conformance case failed" in done.err
    assert "own-sizes: objects of 1 bytes: the usable size is too large" in done.err
    assert installed(tmp_path / "home") == []


@pytest.mark.compiles
def test_one_that_hangs_is_refused(heapwright: Heapwright, tmp_path: Path) -> None:
    header = write_own(tmp_path / "sources", 'for (;;) { asm volatile(""); }')
    done = heapwright("compose", "x", "--file", header)
    assert done.status == ExitCode.BAD_INPUT
    assert "cannot be used: it loads, but the probe does not end within 10 s" in done.err
    assert installed(tmp_path / "home") == []


def test_a_registry_that_cannot_be_written(
    heapwright: Heapwright, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEAPWRIGHT_HOME", "/proc/heapwright")
    done = heapwright("compose", "x", "--type", "MmapHeap")
    assert done.status == ExitCode.NOT_WRITTEN
    assert "your registry /proc/heapwright/allocators cannot be written" in done.err
