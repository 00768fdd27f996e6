# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What is live, by the accounts of allocators, in processes that fork, execute and change."""

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from heapwright.base import native
from heapwright.base.native import NativeMissingError
from heapwright.experiment.program.gauge import SLOT, SLOTS, Gauge, Told

KEPT = 50_000_000
KEEPER = f"""
import ctypes, os, sys
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
kept = [libc.malloc(1_000_000) for _ in range({KEPT // 1_000_000})]
child = os.fork() if "forks" in sys.argv else 0
if "closes" in sys.argv:
    os.closerange(3, 256)
if child == 0:
    print(os.getpid(), flush=True)
sys.stdin.read(1)
"""


@pytest.fixture
def gauge(tmp_path: Path) -> Iterator[Gauge]:
    with Gauge(tmp_path / "gauge", 0.02) as made:
        try:
            assert made.library.is_file()
        except NativeMissingError as error:
            pytest.skip(f"{error.message}: {error.hint}")
        yield made


def told_by(gauge: Gauge, pid: int, enough: Callable[[Told], bool]) -> Told:
    """Asked until it tells what is wanted; a test that hangs is ended by its runner."""
    while True:
        told = gauge.told([pid]).get(pid)
        if told is not None and enough(told):
            return told
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("allocator", "way", "source"),
    [
        (None, "plain", "mallinfo2"),
        (None, "forks", "mallinfo2"),
        (None, "closes", "mallinfo2"),
        ("granary", "plain", "granary"),
        ("lea", "forks", "mallinfo2"),
    ],
)
def test_a_process_reports_its_live_bytes(
    gauge: Gauge, allocator: str | None, way: str, source: str
) -> None:
    first = [] if allocator is None else [str(native.library(allocator))]
    preload = ":".join([*first, str(gauge.library)])
    environment = {**os.environ, **gauge.variables, "LD_PRELOAD": preload}
    with subprocess.Popen(
        ["python3", "-c", KEEPER, way],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        told = told_by(gauge, pid, lambda seen: seen.live >= KEPT)
        assert told.live < 2 * KEPT
        assert told.taken >= told.live
        assert told.source == source
        assert process.stdin is not None
        process.stdin.close()


FIXED = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void* (*volatile take)(size_t);
int main(void) {
    take = malloc;
    memset(take(KEPT), 1, KEPT);
    printf("%d\\n", getpid());
    fflush(stdout);
    return getchar() != EOF;
}
"""


@pytest.mark.parametrize("allocator", [None, "granary"])
def test_a_program_at_a_fixed_address_reports_its_live_bytes(
    gauge: Gauge, allocator: str | None, tmp_path: Path
) -> None:
    """There the address of malloc is one in the program, as in the distribution's python3."""
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("needs a C compiler (package gcc)")
    source, target = tmp_path / "fixed.c", tmp_path / "fixed"
    source.write_text(FIXED, encoding="utf-8")
    fixed = ["-no-pie", "-fno-pie", f"-DKEPT={KEPT}"]
    subprocess.run([compiler, *fixed, str(source), "-o", str(target)], check=True)
    first = [] if allocator is None else [str(native.library(allocator))]
    preload = ":".join([*first, str(gauge.library)])
    environment = {**os.environ, **gauge.variables, "LD_PRELOAD": preload}
    with subprocess.Popen(
        [target], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        told = told_by(gauge, pid, lambda seen: seen.live >= KEPT)
        assert told.source == (allocator or "mallinfo2")
        assert process.stdin is not None
        process.stdin.close()


def test_reports_of_a_process_are_dropped_at_its_end(gauge: Gauge) -> None:
    environment = {**os.environ, **gauge.variables, "LD_PRELOAD": str(gauge.library)}
    with subprocess.Popen(
        ["python3", "-c", KEEPER], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        told_by(gauge, pid, lambda _: True)
        assert gauge.told([]) == {}, "nobody is wanted"
        assert pid in gauge.told([pid]), "and it was not forgotten"
        assert process.stdin is not None
        process.stdin.close()
    gauge.told([])
    assert gauge.told([pid]) == {}


def test_a_table_has_room_for_all_from_the_beginning(tmp_path: Path) -> None:
    file = tmp_path / "table"
    with Gauge(file, 1.0):
        assert file.stat().st_size == SLOTS * SLOT.size
        assert file.stat().st_blocks * 512 >= SLOTS * SLOT.size
    assert not file.exists()
