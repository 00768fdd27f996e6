# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Stress of an allocator with threads, and its build with sanitizers."""

import os
from pathlib import Path

import pytest

from heapwright.base import native
from heapwright.compose.compiler import Compiler
from heapwright.compose.stress import SANITIZERS, WORKLOADS, sanitized, stressed

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
