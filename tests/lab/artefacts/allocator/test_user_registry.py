# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The user's registry: found, read, and never in the way of the rest."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from heapwright.artefacts.allocator.catalogue import (
    BrokenAllocator,
    Catalogue,
    ComposedAllocator,
    UserAllocator,
)
from heapwright.artefacts.allocator.user_registry import (
    Built,
    headers_hash,
    read_registry,
    user_allocators,
    user_home,
    write_entry,
)

ENTRY = ComposedAllocator("mine", "mine.hpp", "heapwright::allocators::Mine", 'say "x"\n\\ é 🙂')
CATALOGUE = """
[[composed]]
name = "lea"
header = "include/heapwright/allocators/lea.hpp"
type = "heapwright::allocators::Lea"
caption = "lea"

[[system]]
name = "glibc"
caption = "the C library"
"""


@pytest.fixture
def native(tmp_path: Path) -> Path:
    folder = tmp_path / "native"
    (folder / "include" / "heapwright").mkdir(parents=True)
    (folder / "include" / "heapwright" / "heap.hpp").write_text("#pragma once\n")
    (folder / "catalogue").mkdir()
    (folder / "catalogue" / "allocators.toml").write_text(CATALOGUE)
    return folder


@pytest.fixture
def own(tmp_path: Path, native: Path) -> Path:
    """A registry with one good entry."""
    folder = tmp_path / "allocators" / "mine"
    folder.mkdir(parents=True)
    write_entry(folder, ENTRY, Built("0.1.0", headers_hash(native), "g++ 12"))
    (folder / "libheapwright-mine.so").write_bytes(b"\x7fELF")
    return folder


def read(native: Path, own: Path) -> Catalogue:
    return read_registry(native, own.parent)


def test_an_entry_says_what_its_library_offers_besides_malloc(native: Path, own: Path) -> None:
    entry = replace(ENTRY, entry_points=("signals", "granary"))
    write_entry(own, entry, Built("0.1.0", headers_hash(native), "g++ 12"))
    mine = read(native, own).find("mine")
    assert isinstance(mine, UserAllocator)
    assert mine.entry_points == ("signals", "granary")


def test_user_home_follows_the_environment_and_then_xdg(tmp_path: Path) -> None:
    assert user_home({"HEAPWRIGHT_HOME": str(tmp_path), "HOME": "/h"}) == tmp_path
    assert user_home({"XDG_DATA_HOME": "/data", "HOME": "/h"}) == Path("/data/heapwright")
    assert user_home({"XDG_DATA_HOME": "data", "HOME": "/h"}) == Path("/h/.local/share/heapwright")
    assert user_allocators({"HOME": "/h"}) == Path("/h/.local/share/heapwright/allocators")


def test_an_entry_is_read_beside_the_catalogue(native: Path, own: Path) -> None:
    catalogue = read(native, own)
    assert catalogue.names == ("lea", "mine", "glibc")
    entry = catalogue.find("mine")
    assert isinstance(entry, UserAllocator)
    assert entry.caption == 'say "x" \\ é 🙂'
    assert entry.library == own / "libheapwright-mine.so"
    assert entry.type == ENTRY.type
    assert entry.stale == ""


def test_other_headers_make_an_entry_stale(native: Path, own: Path) -> None:
    (native / "include" / "heapwright" / "heap.hpp").write_text("#pragma once // changed\n")
    entry = read(native, own).find("mine")
    assert isinstance(entry, UserAllocator)
    assert entry.stale == "0.1.0"


def test_without_a_registry_there_is_the_catalogue(native: Path, tmp_path: Path) -> None:
    assert read_registry(native, tmp_path / "none").names == ("lea", "glibc")
    (tmp_path / "file").touch()
    assert read_registry(native, tmp_path / "file").names == ("lea", "glibc")


def test_an_unfinished_entry_is_not_read(native: Path, own: Path) -> None:
    own.rename(own.with_name(".mine-x1y2"))
    (own.parent / "note.txt").touch()
    assert read(native, own).own == ()


def spoil(text: str) -> Callable[[Path], object]:
    return lambda folder: (folder / "entry.toml").write_text(text)


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda folder: (folder / "entry.toml").unlink(), "cannot be read"),
        (spoil("[[composed"), "is not a TOML file"),
        (spoil(""), "has 0 allocators"),
        (spoil("[[peer]]\n"), "unknown section peer"),
        (spoil('[[composed]]\nname = "mine"\n'), "header must be a text"),
        (
            spoil('[[composed]]\nname="mine"\nheader="h"\ntype="t"\ncaption="c"\n'),
            r"\[built\] must have",
        ),
        (lambda folder: (folder / "libheapwright-mine.so").unlink(), "its library is missing"),
        (
            lambda folder: write_entry(
                folder, ComposedAllocator("other", "h", "t", "c"), Built("1", "2", "3")
            ),
            "speaks of 'other'",
        ),
    ],
)
def test_a_broken_entry_does_not_hide_other_allocators(
    damage: Callable[[Path], object], reason: str, native: Path, own: Path
) -> None:
    damage(own)
    catalogue = read(native, own)
    entry = catalogue.find("mine")
    assert isinstance(entry, BrokenAllocator)
    assert re.search(reason, entry.reason)
    assert catalogue.find("lea") is not None


def test_the_catalogue_keeps_its_names(native: Path, own: Path) -> None:
    own.rename(own.with_name("lea"))
    catalogue = read(native, own)
    assert isinstance(catalogue.find("lea"), ComposedAllocator)
    (broken,) = catalogue.own
    assert isinstance(broken, BrokenAllocator)
    assert broken.name == "lea (yours)"
    assert "the catalogue has this name now" in broken.reason
    assert broken.reason.endswith(f"--file {own.with_name('lea') / 'lea'}.hpp")
