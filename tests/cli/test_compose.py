# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright compose`, from the command line to a row of `compare`."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from elftools.elf.elffile import ELFFile

from heapwright.artefacts.errors import ExitCode

from .tools import Done, Heapwright, read

pytestmark = pytest.mark.usefixtures("native", "cxx")

OWN_LAYER = """#pragma once
#include <heapwright/heap.hpp>
namespace heapwright {
template <TaggedHeap SuperHeap>
class PaddedHeap : private SuperHeap {
public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr bool tagged = true;
    static constexpr std::string_view caption = "asks for a little more";
    using Below = Heaps<SuperHeap>;
    constexpr PaddedHeap() noexcept = default;
    void* malloc(std::size_t size) noexcept { BEFORE; return SuperHeap::malloc(size + 16); }
    void free(void* object) noexcept { SuperHeap::free(object); }
    std::size_t getSize(void* object) noexcept { return SuperHeap::getSize(object); }
    void measure(Footprint& footprint) noexcept { SuperHeap::measure(footprint); }
};
} // namespace heapwright
"""
OWN_RUNGS = """#pragma once
#include <heapwright/heap.hpp>
#include "parts/padded_heap.hpp"
namespace mine {
using namespace heapwright;
using Objects = CoalesceableHeap<MmapHeap>;       // each object knows its neighbours
using Blocks = CoalesceHeap<128 * KiB, Objects>;  // split and merged
using Padded = PaddedHeap<Blocks>;                // never quite full
} // namespace mine
"""


@pytest.fixture
def cxx() -> None:
    if not any(map(shutil.which, ("c++", "g++", "clang++"))):
        pytest.skip("no C++ compiler (package g++)")


def compose(home: Path, *arguments: str | Path) -> Done:
    """The command in a process of its own, with its registry in `home`."""
    plain = {key: text for key, text in os.environ.items() if not key.startswith("LD_")}
    done = subprocess.run(
        [sys.executable, "-m", "heapwright", "compose", *map(str, arguments)],
        env=plain | {"HEAPWRIGHT_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="session")
def bounded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Done]:
    """A registry with `bounded-lea` in it, and what was said of it."""
    home = tmp_path_factory.mktemp("bounded")
    type_ = "BoundedHeap<512 * MiB, lea::Checked>"
    return home, compose(
        home, "bounded-lea", "--type", type_, "--caption", "lea, but not all of it"
    )


@pytest.fixture(scope="session")
def own(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Done]:
    """A registry with `mine` in it, made of a header with a layer of its own."""
    home = tmp_path_factory.mktemp("own")
    return home, compose(home, "mine", "--file", write_own(home / "sources"))


def write_own(folder: Path, before: str = "") -> Path:
    (folder / "parts").mkdir(parents=True)
    layer = folder / "parts" / "padded_heap.hpp"
    layer.write_text(OWN_LAYER.replace("BEFORE;", before))
    header = folder / "rungs.hpp"
    header.write_text(OWN_RUNGS)
    return header


@pytest.fixture
def at_home(monkeypatch: pytest.MonkeyPatch, heapwright: Heapwright) -> Callable[[Path], None]:
    """Takes a registry that was made before for that of the commands that follow."""
    del heapwright  # it sets a registry of its own first
    return lambda home: monkeypatch.setenv("HEAPWRIGHT_HOME", str(home))


def copied(home: Path, folder: Path) -> Path:
    """A registry that a test may spoil."""
    shutil.copytree(home / "allocators", folder / "home" / "allocators")
    return folder / "home"


def installed(home: Path) -> list[str]:
    folder = home / "allocators"
    return sorted(each.name for each in folder.iterdir()) if folder.exists() else []


def test_a_bounded_lea_is_made_and_compared(
    bounded: tuple[Path, Done],
    heapwright: Heapwright,
    at_home: Callable[[Path], None],
    worker: Path,
    tmp_path: Path,
) -> None:
    home, done = bounded
    assert done.status == 0, done.err
    added = "put on top to make it complete: ANSIWrapper, SignalSafeHeap, LockedHeap<FutexLock>"
    for words in (added, "cases passed", "lea, but not all of it", "BoundedHeap<512 MiB>"):
        assert words in done.out
    header = (home / "allocators" / "bounded-lea" / "bounded-lea.hpp").read_text("utf-8")
    assert header.startswith("// lea, but not all of it.\n//\n// Made by: heapwright compose")
    assert "using Checked = CheckedHeap<Selected>;                   // a wrong free ends" in header
    assert "using BoundedLea = ANSIWrapper<bounded_lea::SignalSafe>;" in header

    at_home(home)
    assert "bounded-lea" in heapwright("allocators").out
    shown = heapwright("allocators", "show", "bounded-lea", "--json")
    allocator = json.loads(shown.out)
    assert (allocator["kind"], allocator["effective"], allocator["reason"]) == (
        "composed",
        True,
        "",
    )
    assert allocator["composition"]["below"][0]["below"][0]["below"][0]["layer"] == "BoundedHeap"
    result = tmp_path / "result.json"
    compared = heapwright(
        *("compare", "-n", "3", "-a", "lea,bounded-lea", "--baseline", "lea"),
        *("--json", result, "--", worker, "200"),
    )
    assert compared.status == 0, compared.err
    runs = read(result).runs
    assert {run.allocator for run in runs} == {"lea", "bounded-lea"}
    assert all(run.outcome == "ok" for run in runs)


def dynamic(library: Path) -> tuple[set[str], set[str]]:
    """What a library needs, and the symbols that it defines for others."""
    with library.open("rb") as file:
        elf = ELFFile(file)
        tags = elf.get_section_by_name(".dynamic").iter_tags()
        symbols = elf.get_section_by_name(".dynsym").iter_symbols()
        return (
            {tag.needed for tag in tags if tag.entry.d_tag == "DT_NEEDED"},
            {each.name for each in symbols if each["st_shndx"] != "SHN_UNDEF"},
        )


def test_its_library_is_made_as_those_of_the_catalogue_are(
    bounded: tuple[Path, Done], native: Path
) -> None:
    library = "allocators/bounded-lea/libheapwright-bounded-lea.so"
    needed, defined = dynamic(bounded[0] / library)
    assert (needed, defined) == dynamic(native / "lib" / "libheapwright-lea.so")
    assert not [each for each in needed if "stdc++" in each]
    assert {"malloc", "_Znwm", "dlopen", "heapwright_describe"} <= defined


def test_kingsley_with_coalescing_is_one_line(heapwright: Heapwright, tmp_path: Path) -> None:
    edit = ("--from", "kingsley", "--insert", "CoalesceHeap<256 * KiB>", "--below", "FreelistHeap")
    done = heapwright("compose", "kc", *edit)
    assert done.status == 0, done.err
    assert "CoalesceableHeap brought along: CoalesceHeap needs SpanHeap" in done.out
    composed = json.loads(heapwright("allocators", "show", "kc", "--json").out)
    known = json.loads(heapwright("allocators", "show", "kingsley-coalescing", "--json").out)
    assert composed["composition"] == known["composition"]
    assert composed["caption"] == "kingsley with CoalesceHeap<256 * KiB> below its FreelistHeap"

    drawn = heapwright("allocators", "show", "kc", "--svg", tmp_path / "kc.svg")
    assert drawn.status == 0
    assert "CoalesceHeap<256 KiB>" in drawn.out
    words = "".join(ElementTree.parse(tmp_path / "kc.svg").getroot().itertext())
    assert "CoalesceHeap" in words
    assert "kingsley with CoalesceHeap" in words

    again = heapwright("compose", "kc", *edit)
    assert again.status == ExitCode.BAD_INPUT
    assert "you have composed kc already" in again.err
    assert heapwright("compose", "--delete", "kc").status == 0
    assert installed(tmp_path / "home") == []
    assert "unknown allocator 'kc'" in heapwright("allocators", "show", "kc").err


def test_a_header_with_a_layer_of_ones_own(
    own: tuple[Path, Done], heapwright: Heapwright, at_home: Callable[[Path], None], tmp_path: Path
) -> None:
    home, done = own
    assert done.status == 0, done.err
    assert "asks for a little more" in done.out
    folder = home / "allocators" / "mine"
    kept = (folder / "mine.hpp").read_text("utf-8")
    assert kept.startswith(OWN_RUNGS)
    assert "CheckedHeap<::mine::Padded>" in kept
    assert (folder / "parts" / "padded_heap.hpp").read_text("utf-8") == OWN_LAYER.replace(
        "BEFORE;", ""
    )
    # It stands alone: made again, and edited, without the file that it came from.
    home = copied(home, tmp_path)
    at_home(home)
    shutil.rmtree(own[0] / "sources", ignore_errors=True)
    assert heapwright("compose", "mine", "--from", "mine").status == ExitCode.BAD_INPUT
    again = heapwright("compose", "mine", "--from", "mine", "--force")
    assert again.status == 0, again.err
    assert (home / "allocators" / "mine" / "mine.hpp").read_text("utf-8") == kept
    edited = heapwright("compose", "plain", "--from", "mine", "--remove", "PaddedHeap", "--json")
    assert edited.status == 0, edited.err
    assert "PaddedHeap" not in json.dumps(json.loads(edited.out)["composition"])
    assert installed(home) == ["mine", "plain"]


def test_one_that_went_stale_says_so_and_works(
    bounded: tuple[Path, Done],
    heapwright: Heapwright,
    at_home: Callable[[Path], None],
    tmp_path: Path,
) -> None:
    home = copied(bounded[0], tmp_path)
    at_home(home)
    entry = home / "allocators" / "bounded-lea" / "entry.toml"
    entry.write_text(entry.read_text("utf-8").replace('headers = "', 'headers = "0'), "utf-8")
    done = heapwright("allocators", "show", "bounded-lea")
    assert "preload effective" in done.out
    assert "built from other headers" in done.out
    assert "heapwright compose bounded-lea --from bounded-lea --force" in done.out


def test_one_that_is_broken_is_in_nobodys_way(
    bounded: tuple[Path, Done],
    heapwright: Heapwright,
    at_home: Callable[[Path], None],
    tmp_path: Path,
) -> None:
    home = copied(bounded[0], tmp_path)
    at_home(home)
    (home / "allocators" / "bounded-lea" / "libheapwright-bounded-lea.so").unlink()
    (home / "allocators" / "rubbish").mkdir()
    done = heapwright("allocators")
    assert done.status == 0
    assert "bounded-lea: its library is missing: libheapwright-bounded-lea.so" in done.out
    assert "rubbish: its entry cannot be used: entry.toml cannot be read" in done.out
    refused = heapwright("compare", "-n", "1", "-a", "lea,bounded-lea", "--", "true")
    assert refused.status == ExitCode.BAD_INPUT
    assert "bounded-lea cannot be used: its library is missing" in refused.err
    assert heapwright("compose", "--delete", "rubbish").status == 0


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


def test_what_cannot_be_completed_is_told_of_what_was_asked_for(
    heapwright: Heapwright, tmp_path: Path
) -> None:
    done = heapwright("compose", "x", "--type", "ObstackHeap<4 * KiB, MmapHeap>")
    assert done.status == ExitCode.BAD_INPUT
    assert done.err.startswith(
        "heapwright: ObstackHeap<4 * KiB> cannot stand in for malloc: SignalSafeHeap needs an "
        "AnyOrderHeap below it (a heap that takes objects back in any order)"
    )
    assert installed(tmp_path / "home") == []


def test_what_malloc_must_do_is_demanded(heapwright: Heapwright, tmp_path: Path) -> None:
    done = heapwright("compose", "x", "--type", "BoundedHeap<16 * MiB, lea::Checked>")
    assert done.status == ExitCode.BAD_INPUT
    lines = done.err.splitlines()
    assert "it compiles, but does not do what malloc must" in lines[0]
    assert any(line.startswith("  alignment: malloc gave nothing") for line in lines[1:])
    assert installed(tmp_path / "home") == []


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


def test_an_interrupt_leaves_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "heapwright", "compose", "x", "--type", "lea::Checked"]
    environment = {**os.environ, "HEAPWRIGHT_HOME": str(tmp_path)}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 60
        while not list(tmp_path.glob("allocators/.x-*/.work/check.cpp")):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == ExitCode.INTERRUPTED
    assert "Traceback" not in said
    assert installed(tmp_path) == []


def test_what_has_no_layers_has_no_picture(heapwright: Heapwright, tmp_path: Path) -> None:
    done = heapwright("allocators", "show", "glibc", "--svg", tmp_path / "x.svg")
    assert done.status == ExitCode.BAD_INPUT
    assert "glibc cannot be drawn: it is not made of layers" in done.err
    assert not (tmp_path / "x.svg").exists()
    drawn = heapwright("allocators", "show", "lea", "--svg", "-")
    assert ElementTree.fromstring(drawn.out).tag.endswith("svg")
    assert heapwright("allocators", "show", "lea", "--svg", "/proc/x").status == ExitCode.BAD_INPUT
