# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Budgets of memory for tests of pytest: `@pytest.mark.heapwright(peak="50 MiB")`.

The counts come from a library that is loaded before Python. `pytest --heapwright` starts pytest
again with this library, and `PYTHONMALLOC=malloc heapwright limit -- pytest` starts it so at once.
Without the library, or without this setting, a test with the mark runs, and the summary says that
its budgets were not checked. A run without the mark does nothing here. docs/reference/limit.md is
the manual page.
"""

import ctypes
import gc
import os
import re
import sys
from collections.abc import Generator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

MARK = "heapwright"
STARTED = "HEAPWRIGHT_PYTEST"
"""Set in the environment when pytest was started again."""
UNCHECKED = "heapwright_unchecked"
UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}
SIZE = re.compile(r"(?P<number>[0-9]+(\.[0-9]+)?) ?(?P<unit>[KMG]?)(I?B)?", re.IGNORECASE)
COUNTED = "allocations"
SIZED = ("bytes", "peak", "kept")


class _Figures(ctypes.Structure):
    """struct heapwright_limit_figures of heapwright/c/limit.h."""

    _fields_ = (
        ("allocations", ctypes.c_uint64),
        ("bytes", ctypes.c_uint64),
        ("frees", ctypes.c_uint64),
        ("thread_allocations", ctypes.c_uint64),
        ("thread_bytes", ctypes.c_uint64),
        ("live", ctypes.c_int64),
        ("peak", ctypes.c_int64),
    )


@dataclass(frozen=True, slots=True)
class _Counter:
    """The functions of the library."""

    read: Any
    restart_peak: Any
    restore_peak: Any


@cache
def _counter() -> _Counter | None:
    """None: the library is not loaded."""
    process = ctypes.CDLL(None)
    try:
        found = _Counter(
            process.heapwright_limit_read,
            process.heapwright_limit_restart_peak,
            process.heapwright_limit_restore_peak,
        )
    except AttributeError:
        return None
    found.restart_peak.restype = ctypes.c_int64
    found.restore_peak.argtypes = (ctypes.c_int64,)
    return found


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("heapwright")
    group.addoption(
        "--heapwright",
        action="store_true",
        help="Start again with a library that counts allocations, to check the budgets of tests "
        "with the mark heapwright.",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "heapwright(allocations=N, bytes=SIZE, peak=SIZE, kept=SIZE): budgets of memory of the "
        "test function; checked with --heapwright",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Become pytest with the library."""
    wanted = config.getoption("--heapwright") and not hasattr(config, "workerinput")
    if not wanted:
        return
    if _counter() is not None and (_all_objects() or "PYTHONMALLOC" in os.environ):
        return
    if STARTED in os.environ:
        raise pytest.UsageError("heapwright: the library that counts cannot be loaded into Python")
    words = list(sys.orig_argv)
    if not _is_pytest(words):
        raise pytest.UsageError(
            "heapwright: this program cannot be started again; start it with "
            "`heapwright limit -- PROGRAM`"
        )
    environment = {**os.environ, STARTED: "1", "LD_PRELOAD": _preload()}
    environment.setdefault("PYTHONMALLOC", "malloc")
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(sys.executable, [sys.executable, *words[1:]], environment)


def _is_pytest(words: list[str]) -> bool:
    """Whether the process is `pytest` or `python -m pytest`."""
    names = {Path(word).name for word in words[:3]}
    module = ("-m", "pytest") in pairwise(words)
    return module or bool(names & {"pytest", "py.test"})


def _preload() -> str:
    from heapwright.base import native  # noqa: PLC0415  # a run without --heapwright needs none

    library = str(native.library("counter"))
    return ":".join(filter(None, (library, os.environ.get("LD_PRELOAD", ""))))


def pytest_report_header() -> str | None:
    """What is counted, if anything is."""
    if _counter() is None:
        return None
    if _all_objects():
        return "heapwright: counts all allocations"
    return "heapwright: checks no budgets, because Python's small objects need PYTHONMALLOC=malloc"


def _all_objects() -> bool:
    """Whether CPython asks malloc for each object. Otherwise figures are too small."""
    return os.environ.get("PYTHONMALLOC", "").startswith("malloc")


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker(MARK) is not None and type(item).__name__ == "TestCaseFunction":
        pytest.fail("heapwright: tests of unittest.TestCase are not measured", pytrace=False)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, Any, Any]:
    """Measure the function alone, without its fixtures."""
    mark = pyfuncitem.get_closest_marker(MARK)
    if mark is None:
        return (yield)
    budgets = _budgets(mark)
    counter = _counter()
    if counter is None or not _all_objects():
        pyfuncitem.user_properties.append((UNCHECKED, ", ".join(budgets)))
        return (yield)
    overhead = _used(counter, *_begin(counter))
    begin = _begin(counter)
    try:
        result = yield
    except BaseException:
        counter.restore_peak(begin[1])
        raise
    used = _used(counter, *begin)
    for name, figure in used.items():
        used[name] = max(figure - overhead[name], 0)
        pyfuncitem.user_properties.append((f"heapwright_{name}", used[name]))
    faults = [
        f"heapwright: {name}: {_text(name, used[name])}, at most {_text(name, limit)}"
        for name, limit in budgets.items()
        if used[name] > limit
    ]
    if faults:
        pytest.fail("\n".join(faults), pytrace=False)
    return result


def _begin(counter: _Counter) -> tuple[_Figures, int]:
    """The figures before, and the peak before."""
    gc.collect()
    before = _Figures()
    peak = counter.restart_peak()
    counter.read(ctypes.byref(before))
    return before, peak


def _used(counter: _Counter, before: _Figures, peak: int) -> dict[str, int]:
    now = _Figures()
    counter.read(ctypes.byref(now))
    used = {
        "allocations": now.allocations - before.allocations,
        "bytes": now.bytes - before.bytes,
        "peak": now.peak - before.live,
    }
    gc.collect()
    counter.read(ctypes.byref(now))
    counter.restore_peak(peak)
    return {**used, "kept": max(now.live - before.live, 0)}


def _budgets(mark: pytest.Mark) -> dict[str, int]:
    """The budgets of a mark. A wrong one fails the test."""
    unknown = set(mark.kwargs) - {COUNTED, *SIZED}
    if mark.args or unknown or not mark.kwargs:
        pytest.fail(
            "heapwright: the mark takes allocations=, bytes=, peak= and kept=", pytrace=False
        )
    return {name: _parsed(name, value) for name, value in mark.kwargs.items()}


def _parsed(name: str, value: object) -> int:
    if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
        return int(value)
    match = SIZE.fullmatch(value.strip()) if isinstance(value, str) and name in SIZED else None
    if match is None:
        form = "a size such as '50 MiB'" if name in SIZED else "a number"
        pytest.fail(f"heapwright: {name}={value!r} is not {form}", pytrace=False)
    return int(float(match["number"]) * UNITS[match["unit"].upper()])


def _text(name: str, figure: int) -> str:
    return f"{figure:,} bytes" if name in SIZED else f"{figure:,}"


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Tests with budgets that nothing checked."""
    reports = [each for some in terminalreporter.stats.values() for each in some]
    unchecked = sum(
        name == UNCHECKED
        for each in reports
        if getattr(each, "when", "") == "call"
        for name, _ in getattr(each, "user_properties", ())
    )
    if unchecked:
        tests = "1 test" if unchecked == 1 else f"{unchecked} tests"
        what = "run pytest --heapwright" if _counter() is None else "set PYTHONMALLOC=malloc"
        terminalreporter.write_line(f"heapwright: the budgets of {tests} were not checked; {what}")
