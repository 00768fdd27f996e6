# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The distribution's Python, all objects straight from malloc, passes its own regression tests.

They are chosen for their effect on malloc, and because they end soon and the same way everywhere.
None of them needs the network, a terminal or a privilege. A module that fails on the C library as
well says something about this machine, and is reported as a skip with its name.
"""

from pathlib import Path

import pytest

from .under import Under, needed

SUITE = Path("/usr/lib/python3.11/test")
MALLOC = {"PYTHONMALLOC": "malloc"}

# A name → (modules, a filter of their tests, or None for all).
SLICES = {
    # Objects of all sizes that grow, shrink and are thrown away, in the interpreter's own code.
    "objects": (
        "test_dict test_list test_set test_deque test_ordered_dict test_bytes test_array"
        " test_struct test_memoryview test_unicode test_heapq test_sort test_re test_gc",
        None,
    ),
    # Other people's C code: zlib, expat, OpenSSL, libmpdec, libffi, opened at run time.
    "libraries": (
        "test_json test_zlib test_xml_etree_c test_pyexpat test_decimal test_hashlib test_ctypes",
        None,
    ),
    # Threads that come and go, each with data of its own; forks while others run.
    "threads": ("test_thread test_threading test_threading_local test_context", None),
    # Children by fork and by vfork, with closed descriptors and environments of their own.
    "processes": ("test_fork1 test_posix test_subprocess", ("test.test_fork1.*", "*POSIX*")),
}
# What threads do to the allocator itself: begin, end, end late, fork.
QUICK = (
    "test_thread test_threading test_threading_local",
    (
        "*.ThreadRunningTests.*",
        "*.ThreadTests.*",
        "*.ThreadJoinOnShutdown.*",
        "*.SubinterpThreadingTests.*",
        "*.ThreadLocalTest.*",
    ),
)
LONGER = {
    "subprocess": ("test_subprocess", None),
    "streams": ("test_io test_bz2 test_lzma test_pickle test_mmap test_weakref test_queue", None),
    "pools": ("test_concurrent_futures", ("*ThreadPool*", "*ProcessPoolFork[A-Z]*")),
}


# A thread that ends reads its interpreter's state once more when another may have freed it already
# (drop_gil in CPython 3.11). Where freed memory is closed at once, that is its end. The other two
# fail if a thread or a child does not run within a fixed time, which happens beside other work.
IGNORED = (
    "*.SubinterpThreadingTests.test_threads_join*",
    "*.EventTests.test_set_and_clear",
    "*.test_leak_fast_process_del_killed",
)


def command(modules: str, only: tuple[str, ...] | None, folder: Path) -> list[str | Path]:
    folder.mkdir(exist_ok=True)
    matches = [word for pattern in only or () for word in ("--match", pattern)]
    ignored = [word for pattern in IGNORED for word in ("--ignore", pattern)]
    options = ["--timeout", "240", "--tempdir", str(folder), *matches, *ignored]
    return [needed("python3.11", "python3"), "-m", "test", *options, *modules.split()]


def passes(modules: str, only: tuple[str, ...] | None, under: Under, control: Under) -> None:
    if not (SUITE / "test_dict.py").is_file():
        pytest.skip("Python's regression tests are not installed (package libpython3.11-testsuite)")
    try:
        under.run(command(modules, only, under.home / "work"), extra=MALLOC, wild=True)
    except AssertionError:
        try:
            control.run(command(modules, only, control.home / "work"), extra=MALLOC, wild=True)
        except AssertionError as same:
            pytest.skip(f"fails here on the C library as well: {str(same)[-1500:]}")
        raise


@pytest.mark.programs
def test_threads_begin_and_end(under: Under, control: Under) -> None:
    passes(*QUICK, under, control)


# slob searches its pages from their start: a set of 200,000 objects takes it minutes.
@pytest.mark.programs
@pytest.mark.all_but("slob")
@pytest.mark.parametrize("name", SLICES)
def test_regression_tests_pass(name: str, under: Under, control: Under) -> None:
    passes(*SLICES[name], under, control)


@pytest.mark.slow
@pytest.mark.all_but("slob")
@pytest.mark.parametrize("name", LONGER)
def test_longer_regression_tests_pass(name: str, under: Under, control: Under) -> None:
    passes(*LONGER[name], under, control)
