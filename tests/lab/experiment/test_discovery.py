# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Allocators of this machine, and libraries of every kind, looked up and probed."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from heapwright.artefacts.allocator.catalogue import (
    BrokenAllocator,
    Catalogue,
    ComposedAllocator,
    PeerAllocator,
    SystemAllocator,
    UserAllocator,
    read_catalogue,
)
from heapwright.artefacts.run.provenance import Allocator, Kind, sha256_of
from heapwright.base.errors import HeapwrightError
from heapwright.base.native import NativeMissingError, native_dir, program
from heapwright.experiment.discovery import Discovery
from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.probe import Prober
from heapwright.experiment.treatments import Request

OWN = read_catalogue(Path(__file__).parents[3] / "catalogue" / "allocators.toml")
MALLOC = """
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t), __libc_free(void *);
void *malloc(size_t n) { BEFORE; return __libc_malloc(n); }
"""
REST = """
void *calloc(size_t n, size_t s) { return __libc_calloc(n, s); }
void *realloc(void *p, size_t n) { return __libc_realloc(p, n); }
void free(void *p) { __libc_free(p); }
"""


@pytest.fixture
def environment() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if k not in ("LD_PRELOAD", "GLIBC_TUNABLES")}


@pytest.fixture
def paths() -> Iterator[PreloadPaths]:
    with PreloadPaths() as paths:
        yield paths


def discovery(
    paths: PreloadPaths,
    environment: dict[str, str],
    catalogue: Catalogue = OWN,
    peers: Path | None = None,
) -> Discovery:
    try:
        prober = Prober(program("probe"), paths, environment, limit_s=3)
        return Discovery(catalogue, native_dir() / "lib", prober, peers)
    except NativeMissingError as error:
        pytest.skip(f"{error.message}: {error.hint}")


@pytest.fixture
def found(paths: PreloadPaths, environment: dict[str, str]) -> Discovery:
    return discovery(paths, environment)


def library(path: Path, text: str) -> Path:
    if shutil.which("cc") is None:
        pytest.skip("cc is not installed (package gcc)")
    source = path.with_suffix(".c")
    source.write_text(text)
    command = ["cc", "-O1", "-fno-builtin", "-shared", "-fPIC", source, "-o", path]
    subprocess.run(command, check=True, stderr=subprocess.PIPE)
    return path


def one(discovery: Discovery, path: Path | str) -> Allocator:
    (allocator,) = discovery.look_up([Request("it", str(path))])
    return allocator


def test_ours_are_effective_and_describe_themselves(found: Discovery) -> None:
    for allocator in found.look_up([Request(entry.name) for entry in OWN.composed]):
        assert allocator.usable, allocator.reason
        assert allocator.effective, allocator.reason
        assert allocator.version
        assert allocator.path is not None
        assert allocator.sha256 == sha256_of(Path(allocator.path))
        assert isinstance(allocator.composition, dict)
        assert allocator.composition["layer"]


def test_the_c_library_is_there_with_and_without_its_cache(found: Discovery) -> None:
    plain, bare = found.look_up([Request("glibc"), Request("glibc-no-tcache")])
    for allocator in (plain, bare):
        assert allocator.effective, allocator.reason
        assert allocator.path is None
        assert allocator.version[0].isdigit()
    assert bare.environment == {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}


def test_a_setting_that_does_not_turn_the_cache_off_is_noticed(
    paths: PreloadPaths, environment: dict[str, str]
) -> None:
    """As in a C library that does not know the setting: here it is in the wrong variable."""
    undone = "glibc.malloc.tcache_count=0"
    entry = SystemAllocator("bare", "c", (("UNUSED", undone),))
    (allocator,) = discovery(paths, environment, Catalogue((), (entry,), ())).everything()
    assert not allocator.usable
    assert "does not turn the cache off" in allocator.reason


def test_installed_peers_are_found_by_their_sonames(found: Discovery) -> None:
    for allocator in found.look_up([Request(entry.name) for entry in OWN.peers]):
        entry = OWN.find(allocator.name)
        assert isinstance(entry, PeerAllocator)
        if allocator.usable:
            assert allocator.effective, allocator.reason
            assert allocator.path is not None
            assert Path(allocator.path).name in entry.sonames
            assert allocator.version
        else:
            assert (entry.package or "make peers") in allocator.reason


def test_peers_that_were_built_here_come_first(
    paths: PreloadPaths, environment: dict[str, str], tmp_path: Path
) -> None:
    library(tmp_path / "libdream.so.1", MALLOC.replace("BEFORE", "") + REST)
    peer = PeerAllocator("dream", ("libdream.so.1",), "", "c")
    own = Catalogue((), (), (peer,))
    (built,) = discovery(paths, environment, own, tmp_path).everything()
    assert built.effective, built.reason
    assert built.path == str(tmp_path / "libdream.so.1")
    without = discovery(paths, environment, own, tmp_path / "none")
    with pytest.raises(HeapwrightError, match="not built: `make peers`") as caught:
        without.requested([Request("dream")])
    assert caught.value.hint == ""


def test_missing_programs_are_listed_and_refused_with_their_package(
    paths: PreloadPaths, environment: dict[str, str]
) -> None:
    peer = PeerAllocator("dream", ("libdream.so.1",), "libdream1", "c")
    ours = ComposedAllocator("unbuilt", "h", "t", "c")
    nothing = discovery(paths, environment, Catalogue((ours,), (), (peer,)))
    assert [allocator.usable for allocator in nothing.everything()] == [False, False]
    with pytest.raises(HeapwrightError) as caught:
        nothing.requested([Request("dream"), Request("unbuilt")])
    assert "dream cannot be used: not installed" in caught.value.message
    assert "unbuilt cannot be used: it is not built" in caught.value.message
    assert caught.value.hint == "apt-get install libdream1"


@pytest.mark.parametrize(("number", "version"), [(209, "2.0.9"), (30403, "3.4.3")])
def test_the_version_of_mimalloc_has_one_or_two_digits_a_part(
    found: Discovery, tmp_path: Path, number: int, version: str
) -> None:
    text = MALLOC.replace("BEFORE", "") + REST + f"int mi_version(void) {{ return {number}; }}"
    assert one(found, library(tmp_path / "mine.so", text)).version == version


def test_a_library_by_its_path(found: Discovery, tmp_path: Path) -> None:
    path = library(tmp_path / "mine.so", MALLOC.replace("BEFORE", "") + REST)
    allocator = one(found, path)
    assert allocator.kind is Kind.FILE
    assert allocator.effective, allocator.reason
    assert allocator.version == "mine.so"
    assert allocator.path == str(path)
    assert found.requested([Request("it", str(path))]) == [allocator]


def test_a_library_by_a_name_that_the_loader_knows(
    paths: PreloadPaths, environment: dict[str, str], tmp_path: Path
) -> None:
    path = library(tmp_path / "libmine.so", MALLOC.replace("BEFORE", "") + REST)
    known = discovery(paths, {**environment, "LD_LIBRARY_PATH": str(tmp_path)})
    assert one(known, "libmine.so").path == str(path)
    assert "cannot open shared object file" in one(known, "libother.so").reason


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        ("abort()", "it loads, but the probe is killed by SIGABRT"),
        ("for (;;) pause()", "it loads, but the probe does not end within 3 s"),
        ("return NULL", "it loads, but an allocation of the probe failed"),
    ],
)
def test_a_library_that_fails_in_the_probe_stays_usable(
    found: Discovery, tmp_path: Path, before: str, reason: str
) -> None:
    allocator = one(found, library(tmp_path / "x.so", MALLOC.replace("BEFORE", before) + REST))
    assert allocator.usable
    assert not allocator.effective
    assert reason in allocator.reason


def test_half_an_allocator_is_noticed(found: Discovery, tmp_path: Path) -> None:
    allocator = one(found, library(tmp_path / "x.so", MALLOC.replace("BEFORE", "")))
    assert allocator.usable
    assert "not all of free, calloc and realloc" in allocator.reason


def test_a_library_without_malloc_is_not_usable(found: Discovery, tmp_path: Path) -> None:
    allocator = one(found, library(tmp_path / "x.so", "int nothing;\n"))
    assert not allocator.usable
    assert "malloc is still the C library's" in allocator.reason
    dying = "#include <stdlib.h>\n__attribute__((constructor)) void f(void) { abort(); }\n"
    allocator = one(found, library(tmp_path / "y.so", dying))
    assert not allocator.usable
    assert "it defines no malloc, and the probe is killed by SIGABRT" in allocator.reason


def test_a_file_that_is_no_library_is_not_usable(found: Discovery, tmp_path: Path) -> None:
    (tmp_path / "text.so").write_text("text " * 100)
    assert "it does not load: cannot be preloaded" in one(found, tmp_path / "text.so").reason
    assert "does not exist" in one(found, tmp_path / "none.so").reason
    assert "is not a file" in one(found, tmp_path).reason


def test_a_preload_of_the_users_own_makes_glibc_ineffective(
    paths: PreloadPaths, environment: dict[str, str], tmp_path: Path
) -> None:
    own = library(tmp_path / "own.so", MALLOC.replace("BEFORE", "") + REST)
    spoilt = discovery(paths, {**environment, "LD_PRELOAD": str(own)})
    (glibc,) = spoilt.look_up([Request("glibc")])
    assert not glibc.effective
    assert f"malloc comes from {own}, not from the C library" in glibc.reason


def test_the_users_own_are_looked_up_like_the_others(
    paths: PreloadPaths, environment: dict[str, str], tmp_path: Path
) -> None:
    library(tmp_path / "libheapwright-mine.so", MALLOC.replace("BEFORE;", "") + REST)
    mine = UserAllocator("mine", "mine.hpp", "Mine", "my own", tmp_path)
    stale = UserAllocator("mine", "mine.hpp", "Mine", "my own", tmp_path, stale="0.0.9")
    broken = BrokenAllocator("rubbish", "its library is missing", str(tmp_path))
    known = Catalogue((), (), (), (mine, broken))
    found, unusable = discovery(paths, environment, known).everything()
    assert (found.name, found.kind, found.caption) == ("mine", Kind.COMPOSED, "my own")
    assert found.path == str(mine.library)
    assert (found.usable, found.effective, found.reason) == (True, True, "")
    assert (unusable.name, unusable.usable) == ("rubbish", False)
    assert unusable.reason == "its library is missing"

    (old,) = discovery(paths, environment, Catalogue((), (), (), (stale,))).everything()
    assert (old.usable, old.effective) == (True, True)
    assert "of version 0.0.9" in old.reason
    assert "heapwright compose mine --from mine --force" in old.reason
