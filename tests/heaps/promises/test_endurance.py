# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The endurance run, scaled down; and that it finds what it is there to find."""

import subprocess
from pathlib import Path

import pytest

from support.running import ran

from .endurance import Run, compiled, endure, read_log

OPERATIONS = 3_000_000


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    try:
        return compiled(tmp_path_factory.mktemp("endurance"))
    except FileNotFoundError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("threads", [1, 3, 8, 20])
def test_granary_endures(granary: str, program: Path, threads: int) -> None:
    run = endure(program, granary, OPERATIONS, threads=threads, seed=threads)
    assert run.fault is None
    assert run.operations >= OPERATIONS
    assert run.forks > 0
    assert run.lives > threads
    assert run.most_live > 1 << 20


def test_the_endurance_check_detects_growth(granary: str, program: Path) -> None:
    """Private heaps keep what they are given, more and more."""
    assert granary
    run = endure(program, "private", 200_000_000, threads=4, seed=1)
    assert run.fault is not None
    assert "resident" in run.fault
    assert run.most_resident > run.bound


def test_the_endurance_check_detects_overwritten_objects(program: Path, tmp_path: Path) -> None:
    """A malloc that returns less than the request, so that neighbours overlap."""
    source = tmp_path / "short.c"
    source.write_text(
        """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <stddef.h>
        void *__libc_malloc(size_t);
        void *malloc(size_t size) { return __libc_malloc(size > 600 ? size - 16 : size); }
        """,
        encoding="utf-8",
    )
    library = tmp_path / "short.so"
    subprocess.run(["cc", "-shared", "-fPIC", source, "-o", library], check=True)
    done = ran([program, str(OPERATIONS), "2"], env={"LD_PRELOAD": str(library)})
    assert done.returncode != 0
    assert '"done": true' not in done.stdout


def test_a_log_counts_what_was_done(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(
        '{"allocator": "a", "library": "b", "threads": 1, "seed": 2, "operations": 3,'
        ' "most_live": 4, "most_resident": 5, "forks": 6, "lives": 7, "fault": null}\n{"allo',
        encoding="utf-8",
    )
    assert read_log(log) == [Run("a", "b", 1, 2, 3, 4, 5, 6, 7, None)]
    assert read_log(tmp_path / "none") == []
