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

from heapwright.base.errors import ExitCode

from .compositions import OWN_LAYER, OWN_RUNGS, compose, installed, write_own
from .tools import Done, Heapwright, read

pytestmark = pytest.mark.usefixtures("native", "cxx")


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


@pytest.fixture
def at_home(monkeypatch: pytest.MonkeyPatch, heapwright: Heapwright) -> Callable[[Path], None]:
    """Takes a registry that was made before for that of the commands that follow."""
    del heapwright  # it sets a registry of its own first
    return lambda home: monkeypatch.setenv("HEAPWRIGHT_HOME", str(home))


def copied(home: Path, folder: Path) -> Path:
    """A registry that a test may spoil."""
    shutil.copytree(home / "allocators", folder / "home" / "allocators")
    return folder / "home"


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
    lines = [" ".join(line.split()) for line in header.splitlines()]
    assert "using Checked = CheckedHeap<Selected>; // a wrong free ends the program" in lines, (
        header
    )
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


@pytest.mark.compiles
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


@pytest.mark.compiles
def test_a_header_with_a_layer_of_the_user_is_composed(
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


def test_one_that_went_stale_reports_it_and_works(
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


def test_a_broken_allocator_does_not_affect_others(
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


def test_an_allocator_without_layers_has_no_picture(heapwright: Heapwright, tmp_path: Path) -> None:
    done = heapwright("allocators", "show", "glibc", "--svg", tmp_path / "x.svg")
    assert done.status == ExitCode.BAD_INPUT
    assert "glibc cannot be drawn: it is not made of layers" in done.err
    assert not (tmp_path / "x.svg").exists()
    drawn = heapwright("allocators", "show", "lea", "--svg", "-")
    assert ElementTree.fromstring(drawn.out).tag.endswith("svg")
    assert heapwright("allocators", "show", "lea", "--svg", "/proc/x").status == ExitCode.BAD_INPUT
