# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""APR's pools as reaps: programs of pools print under the project's libraries the same as without.

Each is compiled once. It is run with the stock library, with pools as reaps, and with pools
emulated on malloc, by LD_PRELOAD as a user would.
"""

import re
import signal
from pathlib import Path

import pytest

from .conftest import KINDS, Build, Under, need


def same_as_stock(library: Path, under: Under, *command: str | Path) -> str:
    stock = under(None, *command)
    ours = under(library, *command)
    assert (stock.returncode, stock.stderr) == (0, "")
    assert (ours.returncode, ours.stderr) == (0, "")
    assert ours.stdout == stock.stdout
    return ours.stdout


LINES = {"cleanups": 50, "pools": 42, "nodes": 16, "brigades": 44, "threads": 1}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("program", LINES)
def test_prints_the_same(
    program: str, kind: str, libraries: dict[str, Path], build: Build, under: Under
) -> None:
    printed = same_as_stock(libraries[kind], under, build(program))
    assert printed.count("\n") >= LINES[program]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", ["1", "2", "3"])
def test_random_histories_run_the_same(
    seed: str, kind: str, libraries: dict[str, Path], build: Build, under: Under
) -> None:
    printed = same_as_stock(libraries[kind], under, build("histories"), seed)
    assert printed.count("\n") > 100


@pytest.mark.parametrize("kind", KINDS)
def test_memory_runs_out(kind: str, libraries: dict[str, Path], build: Build, under: Under) -> None:
    printed = same_as_stock(libraries[kind], under, build("exhausted"))
    assert printed == 2 * (
        "many 1, told 1\ntold 2\ntext 1, told 3\nno pool 1, told 4\nmany 1, told 1\nagain 1\n"
    )


def test_keeps_as_many_free_nodes(libraries: dict[str, Path], build: Build, under: Under) -> None:
    printed = same_as_stock(libraries["reaps"], under, build("kept"))
    assert "limit 16384 keeps 4 pages\n" in printed
    assert "limit 0 keeps 16 pages\n" in printed


@pytest.mark.programs
@pytest.mark.parametrize("kind", KINDS)
def test_a_program_of_the_distribution(kind: str, libraries: dict[str, Path], under: Under) -> None:
    htpasswd = need("htpasswd", "apache2-utils")
    printed = same_as_stock(libraries[kind], under, htpasswd, "-nbs", "someone", "a word")
    assert re.fullmatch(r"someone:\{SHA\}\S{28}\n\n", printed)


@pytest.mark.parametrize("kind", ["emulated", "reaps"])
def test_ends_processes(kind: str, libraries: dict[str, Path], build: Build, under: Under) -> None:
    printed = same_as_stock(libraries[kind], under, build("processes"))
    assert printed.splitlines() == [
        "killed: gone 1",
        "asked once: gone 1",
        "asked, with time: gone 1",
        "waited for: gone 1",
        "left alone: gone 0",
        "all gone 1 1 1",
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_nested_pools_need_no_stack(
    kind: str, libraries: dict[str, Path], build: Build, under: Under
) -> None:
    done = under(libraries[kind], build("deep"), "20000")
    assert (done.returncode, done.stdout) == (0, "20000\n20000\n"), done.stderr


@pytest.mark.slow
def test_a_million_nested_pools(libraries: dict[str, Path], build: Build, under: Under) -> None:
    free = re.search(r"^MemAvailable:\s*(\d+) kB", Path("/proc/meminfo").read_text(), re.MULTILINE)
    assert free is not None
    for kind, gigabytes in [("emulated", 1), ("reaps", 6)]:  # there each pool has pages of its own
        if int(free[1]) > gigabytes << 20:
            done = under(libraries[kind], build("deep"), "1000000")
            assert (done.returncode, done.stdout) == (0, "1000000\n1000000\n"), done.stderr


@pytest.mark.parametrize("kind", KINDS)
def test_single_objects_are_freed(
    kind: str, libraries: dict[str, Path], build: Build, under: Under
) -> None:
    done = under(libraries[kind], build("single_frees", libraries["reaps"]))
    assert (done.returncode, done.stdout) == (0, "500 digits, memory stays 1\n"), done.stderr


MISUSES = {
    "free twice": "apr_pfree(): double free or invalid pointer",
    "free the last twice": "apr_pfree(): double free or invalid pointer",
    "free the middle": "apr_pfree(): double free or invalid pointer",
    "free no address": "apr_pfree(): double free or invalid pointer",
    "destroy twice": "apr_pool_destroy(): the pool is destroyed already",
    "destroy in its own cleanup": "apr_pool_destroy(): the pool is being cleared or destroyed",
    "destroy while clearing": "apr_pool_destroy(): the pool is being cleared or destroyed",
    "destroy the parent in a cleanup": "apr_pool_destroy(): a cleanup ends a pool around its own",
}


@pytest.mark.parametrize("misuse", MISUSES)
def test_misuse_ends_with_a_message(
    misuse: str, libraries: dict[str, Path], build: Build, under: Under
) -> None:
    done = under(libraries["reaps"], build("misuse", libraries["reaps"]), misuse)
    assert done.returncode == -signal.SIGABRT
    assert (done.stdout, done.stderr) == ("", f"heapwright: {MISUSES[misuse]}\n")


IN_THE_CHECKED_ONE = {
    **MISUSES,
    "free in another pool": "apr_pfree(): object of another pool",
    "free in a pool inside": "apr_pfree(): object of another pool",
    "free after clear": "apr_pfree(): double free or invalid pointer",
    "free in a destroyed pool": "apr_pfree(): the pool is destroyed already",
    "allocate in a destroyed pool": "apr_palloc(): the pool is destroyed already",
    "create in a destroyed pool": "apr_pool_create_ex(): the pool is destroyed already",
    "clear a destroyed pool": "apr_pool_clear(): the pool is destroyed already",
}


@pytest.mark.parametrize("misuse", IN_THE_CHECKED_ONE)
def test_the_checked_one_sees_more(
    misuse: str, libraries: dict[str, Path], build: Build, under: Under
) -> None:
    done = under(libraries["checked"], build("misuse", libraries["reaps"]), misuse)
    assert done.returncode == -signal.SIGABRT
    said = f"heapwright: {IN_THE_CHECKED_ONE[misuse]}\n"
    assert (done.stdout, done.stderr) == ("", said)


def test_without_misuse_nothing_ends(
    libraries: dict[str, Path], build: Build, under: Under
) -> None:
    done = under(libraries["reaps"], build("misuse", libraries["reaps"]), "none")
    assert (done.returncode, done.stdout, done.stderr) == (0, "it went on\n", "")
