# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Stress of an allocator with threads, and its build with sanitizers."""

import os
from pathlib import Path

import pytest

from heapwright.base import native
from heapwright.base.errors import HeapwrightError
from heapwright.compose import stress
from heapwright.compose.compiler import Compiler
from heapwright.compose.stress import SANITIZERS, WORKLOADS, Sanitized, sanitized, stressed

HEADER = """#pragma once
#include <heapwright/heap.hpp>
namespace heapwright::allocators {{
using Lists = StrictSegHeap<PowerOfTwo<22>, FreelistHeap<NullHeap>,
                            SizeHeap<ChunkHeap<1 * MiB, 8, MmapHeap>>>;
using Tried = ANSIWrapper<SignalSafeHeap<{top}>>;
}} // namespace heapwright::allocators
"""
SIZES = (1, 40, 500, 9000, 100_000)


def run_all(library: Path) -> dict[str, str]:
    ends = stressed(str(library), native.native_dir() / "workloads", os.environ, seed=1)
    return {name: wrong.why if wrong else "" for name, wrong in ends}


def test_a_good_allocator_passes_all_workloads() -> None:
    assert run_all(native.library("kingsley")) == dict.fromkeys(WORKLOADS, "")


def test_a_library_that_crashes_fails_by_the_name_of_the_workload(
    any_compiler: Compiler, tmp_path: Path
) -> None:
    source, library = tmp_path / "bad.c", tmp_path / "bad.so"
    source.write_text('extern "C" void* malloc(unsigned long) { __builtin_abort(); }')
    flags = ("-w", "-shared", "-fPIC", "-x", "c++")
    assert any_compiler.build([*flags, source, "-o", library]).valid
    found = run_all(library)
    assert found["larson"].startswith("killed by SIGABRT")


def wrapped(compiler: Compiler, folder: Path, script: str) -> Compiler:
    """A compiler that runs a script of the shell first; `$real` is the compiler itself."""
    program = folder / "wrapped"
    program.write_text(f'#!/bin/sh\nreal={compiler.name}\n{script}\nexec $real "$@"\n')
    program.chmod(0o755)
    return Compiler([str(program)], folder)


def ends_with(compiler: Compiler, folder: Path, sanitizer: str) -> Sanitized:
    (folder / "tried.hpp").write_text("")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(stress, "SANITIZERS", (sanitizer,))
        patched.setattr(stress, "PROGRAM", "int absent(); int main() {{ return absent(); }}")
        return sanitized(folder / "tried.hpp", "", SIZES, compiler)


def test_a_heap_that_does_not_link_fails(any_compiler: Compiler, tmp_path: Path) -> None:
    done = ends_with(any_compiler, tmp_path, "address,undefined")
    assert done.missing == ()
    assert "absent" in done.failed[0].why


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("exit 1", "has no sanitizer for thread"),
        ("printf '#!/bin/sh\\nexit 66\\n' > least-thread; chmod +x least-thread; exit 0", "here"),
    ],
)
def test_a_sanitizer_that_fails_without_a_heap_is_missing(
    any_compiler: Compiler,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    script: str,
    why: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    done = ends_with(wrapped(any_compiler, tmp_path, script), tmp_path, "thread")
    assert (done.failed, done.ran) == ((), ())
    assert done.missing[0].endswith(why)


def test_a_killed_compiler_is_no_defect_of_the_heap(any_compiler: Compiler, tmp_path: Path) -> None:
    script = "echo 'g++: fatal error: Killed signal terminated program cc1plus' >&2; exit 1"
    with pytest.raises(HeapwrightError, match="was killed"):
        ends_with(wrapped(any_compiler, tmp_path, script), tmp_path, "thread")


def tried(top: str, compiler: Compiler, folder: Path) -> dict[str, str]:
    own = native.native_dir()
    compiler.include = (own / "include", own)
    header = folder / "tried.hpp"
    header.write_text(HEADER.format(top=top))
    done = sanitized(header, "heapwright::allocators::Tried", SIZES, compiler)
    assert done.missing == ()
    assert done.ran == SANITIZERS
    return {each.case: each.why for each in done.failed}


@pytest.mark.slow
def test_a_locked_heap_passes_under_the_sanitizers(any_compiler: Compiler, tmp_path: Path) -> None:
    assert tried("LockedHeap<FutexLock, AlignHeap<Lists>>", any_compiler, tmp_path) == {}


@pytest.mark.slow
def test_the_sanitizer_for_threads_reports_a_heap_without_a_lock(
    any_compiler: Compiler, tmp_path: Path
) -> None:
    found = tried("AlignHeap<Lists>", any_compiler, tmp_path)
    assert "data race" in found["thread"]
