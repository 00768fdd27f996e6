# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Suites are compared as they should be, their output is read as it is, and parts of them pass."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from heapwright.base import native
from heapwright.base.native import NativeMissingError

from .cpython import LEFT_OUT, CPython
from .redis import Redis
from .sqlite import SQLite
from .suite import MissingError, Suite, Verdict, needed, run
from .suites import SUITES, compare


@pytest.fixture(scope="module")
def granary() -> str:
    try:
        native.library("granary")
    except NativeMissingError as error:
        pytest.skip(f"{error.message}: {error.hint}")
    return "granary"


class Scripted:
    """A suite that is a line of shell; what it calls failed, failed."""

    name = "scripted"
    program = "sleep"
    limit_s = 60
    rootless = False

    def __init__(self, script: str):
        self.script = script

    def prepare(self, folder: Path) -> None:
        del folder

    def command(self, folder: Path, work: Path, only: Sequence[str]) -> list[str | Path]:
        del folder, work
        return [needed("sh", "dash"), "-c", self.script, "sh", *only]

    def environment(self) -> dict[str, str]:
        return {}

    def where(self, folder: Path, work: Path) -> Path:
        del folder
        return work

    def read(self, output: str) -> Verdict:
        words = output.split()
        failed = frozenset(word for word in words if word.startswith("test"))
        return Verdict(failed, len(words), "end" in words)


SEEN = "sleep 1; "


def test_a_test_that_fails_in_both_is_no_difference(granary: str, tmp_path: Path) -> None:
    found = compare(Scripted(SEEN + "echo test_a test_b end"), granary, tmp_path)
    assert found.own.faults == found.under.faults == {"test_a", "test_b"}
    assert not found.only_under


def test_a_failure_under_the_allocator_alone_is_a_difference(granary: str, tmp_path: Path) -> None:
    script = SEEN + 'echo test_a; [ -z "$LD_PRELOAD" ] || echo test_b; echo end'
    assert compare(Scripted(script), granary, tmp_path).only_under == {"test_b"}


def test_a_failure_that_does_not_repeat_is_no_difference(granary: str, tmp_path: Path) -> None:
    script = SEEN + '[ -z "$LD_PRELOAD" ] || [ $# = 1 ] || echo test_b; echo end'
    found = compare(Scripted(script), granary, tmp_path)
    assert found.under.faults == {"test_b"}
    assert not found.only_under


def test_a_suite_that_does_not_end_is_one(granary: str, tmp_path: Path) -> None:
    script = SEEN + '[ -z "$LD_PRELOAD" ] || kill -SEGV $$; echo end'
    (fault,) = compare(Scripted(script), granary, tmp_path).only_under
    assert "did not come to its end" in fault


def test_a_suite_on_which_the_allocator_had_no_effect_is_one(granary: str, tmp_path: Path) -> None:
    script = "unset LD_PRELOAD; exec sh -c 'sleep 1; echo end'"
    (fault,) = compare(Scripted(script), granary, tmp_path).only_under
    assert fault == f"(no sleep was seen under {granary})"


def test_python_s_output_is_read() -> None:
    output = """0:00:01 load avg: 1.00 [ 1/3] test_a passed
0:00:02 load avg: 1.00 [ 2/3/1] test_b failed (2 failures)
0:00:03 load avg: 1.00 [ 3/3/1] test_c skipped
== Tests result: FAILURE ==

1 test OK.

1 test failed:
    test_b

1 test skipped:
    test_c
Tests result: FAILURE
"""
    assert CPython().read(output) == Verdict(frozenset({"test_b"}), 3, True)
    assert CPython().read(output[:60]) == Verdict(frozenset(), 1, False)


def test_sqlite_s_output_is_read() -> None:
    output = "2 errors out of 300 tests on host\n!Failures on these tests: a-1.2 b-3\n"
    assert SQLite().read(output) == Verdict(frozenset({"a-1.2", "b-3"}), 300, True)
    assert SQLite().read("0 errors out of 9 tests\n") == Verdict(frozenset(), 9, True)
    assert not SQLite().read("Time: a.test 3 ms\n").ended


def test_redis_output_is_read() -> None:
    good = "[ok]: one\n[ok]: two\n\x1b[0;32m\\o/ All tests passed without errors!\n"
    assert Redis().read(good) == Verdict(frozenset(), 2, True)
    bad = "[ok]: one\n\x1b[0;31m[err]: three in tests/unit/type/list.tcl\x1b[0m\nwhy\n"
    assert Redis().read(bad) == Verdict(frozenset({"unit/type/list"}), 1, True)


def test_each_suite_has_its_name_and_says_what_it_leaves_out() -> None:
    assert set(SUITES) == {"cpython", "sqlite", "redis"}
    assert all(name.startswith("test_") and why for name, why in LEFT_OUT.items())


# What ends soon, to see that the whole of it would run.
PARTS: list[tuple[Suite, tuple[str, ...]]] = [
    (CPython(), ("test_dict", "test_list", "test_json", "test_threading_local")),
    (Redis(), ("unit/type/hash", "unit/scan")),
    (SQLite(), ("select1-1.1",)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("suite", "part"), PARTS, ids=[suite.name for suite, _ in PARTS])
def test_a_part_of_each_passes(
    granary: str,
    suite: Suite,
    part: tuple[str, ...],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("suites")
    folder.chmod(0o755)
    for above in folder.parents[:2]:
        above.chmod(above.stat().st_mode | 0o055)
    try:
        suite.prepare(folder)
    except MissingError as missing:
        pytest.skip(str(missing))
    ran = run(suite, granary, folder, part)
    assert ran.ran > 0
    assert not ran.faults, ran.output[-3000:]
