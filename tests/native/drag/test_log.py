# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The reader of the log, on logs written by hand: no valgrind runs here."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from heapwright.base import native

BEGINS = "--7--   SCHED[{}]:  acquired lock (thread_wrapper(starting new thread))"
RUNS = "--7--   SCHED[{}]:  acquired lock (VG_(client_syscall)[async])"
START = [
    "==7== Lackey, an example Valgrind tool",
    BEGINS.format(1),
    "**7** hw module 400000 401000 3ff000 /the/program",
    "**7** hw module 500000 501000 500000 /the/marks.so",
    "**7** hw marks 500010",
    "I  00400000,3",
]
MALLOC, CALLOC, REALLOC, FREE, ASK = range(1, 6)


def read(tmp_path: Path, *lines: str, last: str = "") -> dict[str, Any]:
    """What heapwright-drag makes of these lines."""
    try:
        program = native.program("drag")
    except native.NativeMissingError as error:
        pytest.skip(str(error))
    log = tmp_path / "log"
    log.write_text("\n".join([*START, *lines, last]))
    done = subprocess.run(
        [program, "--result-fd", "1", "--trace", log], capture_output=True, text=True, check=True
    )
    report = json.loads(done.stdout)
    assert isinstance(report, dict)
    return report


def call(
    kind: int, *inside: str, given: int = 0, result: int = 0, size: int = 0, chain: str = "4000FF"
) -> list[str]:
    frames = [
        "==7==    at 0x500020: malloc (marks.c:100)",
        *(f"==7==    by 0x{each}: a (in /f)" for each in chain.split()),
    ]
    return [
        f"**7** hw call {kind} 0 {given:x}",
        *(frames if kind not in (FREE, ASK) else ()),
        *inside,
        f"**7** hw call 0 {result:x} {size:x}",
    ]


def malloc(address: int, size: int = 16, *inside: str) -> list[str]:
    return call(MALLOC, *inside, result=address, size=size)


def free(address: int, *inside: str) -> list[str]:
    return call(FREE, *inside, given=address)


def test_held_and_needed_memory(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        *malloc(0x1000, 16),
        " S 00001008,8",
        *malloc(0x2000, 32),
        " L 00001000,4",
        *malloc(0x3000, 16),
        *free(0x1000),
    )
    assert report["allocated_bytes"] == 64
    assert report["held_area"] == 16 * 64 + 32 * 48 + 16 * 16
    assert report["needed_area"] == 16 * 48 + 32 * 32 + 16 * 16
    assert report["peak_held"] == {"bytes": 64, "at": 64}
    assert report["peak_needed"] == {"bytes": 48, "at": 48}
    assert report["never_freed"] == {"objects": 2, "bytes": 48}
    assert report["never_accessed"] == {"objects": 2, "bytes": 48}
    assert (report["threads"], report["misread_lines"]) == (1, 0)


def test_accesses_of_the_allocator_are_no_use(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        *malloc(0x1000, 16),
        *malloc(0x2000, 16, " S 00001000,8", " M 00001008,8"),
        *call(ASK, " L 00001000,8"),
        *free(0x2000, " S 00001000,8"),
    )
    assert report["never_accessed"]["objects"] == 2


def test_chains_are_without_the_marks_and_by_file(tmp_path: Path) -> None:
    lines = [
        *call(MALLOC, result=0x1000, size=16, chain="4000FF 400200"),
        *call(CALLOC, result=0x2000, size=16, chain="4000FF 400200"),
        *call(MALLOC, result=0x3000, size=99, chain="400300"),
        *call(MALLOC, result=0x4000, size=7, chain="900000"),
    ]
    report = read(tmp_path, *lines)
    sites = {site["bytes"]: site for site in report["sites"]}
    assert report["modules"][:2] == ["/the/program", "/the/marks.so"]
    assert sites[32]["frames"] == [[0, 0x10FF], [0, 0x1200]]
    assert sites[32]["objects"] == 2
    assert sites[99]["frames"] == [[0, 0x1300]]
    (unknown,) = sites[7]["frames"]
    assert report["modules"][unknown[0]] == ""
    assert unknown[1] == 0x900000


def test_a_chain_is_that_of_the_thread_that_calls(tmp_path: Path) -> None:
    first = call(MALLOC, result=0x1000, size=16, chain="400100")
    second = call(MALLOC, result=0x2000, size=32, chain="400200")
    report = read(
        tmp_path,
        *first[:-1],
        BEGINS.format(2),
        *second,
        " S 00002000,8",
        RUNS.format(1),
        " S 00002008,8",
        first[-1],
        " S 00001000,8",
    )
    assert report["threads"] == 2
    sites = {site["bytes"]: site for site in report["sites"]}
    assert sites[16]["frames"] == [[0, 0x1100]]
    assert sites[32]["frames"] == [[0, 0x1200]]
    assert report["never_accessed"]["objects"] == 0


def test_realloc_ends_one_object_and_begins_another(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        *malloc(0x1000, 16),
        *malloc(0x2000, 16),
        *call(REALLOC, given=0x1000, result=0x3000, size=32),
        *call(REALLOC, given=0x2000, result=0, size=1 << 60),  # there is no such memory
        *call(REALLOC, given=0x3000, result=0, size=0),
        *call(REALLOC, given=0, result=0x4000, size=8),
    )
    assert report["objects"] == 4
    assert report["held_area"] == 16 * 32 + 16 * 56 + 32 * 32 + 8 * 8
    assert report["needed_area"] == 16 * 32 + 16 * 16 + 32 * 32 + 8 * 8
    assert report["unknown_frees"] == 0


READ = "SYSCALL[7,1](0) sys_read ( 3, 0x1000, 16 ) --> "


@pytest.mark.parametrize(
    ("lines", "touched"),
    [
        ([READ + "[pre-success] Success(0x10)"], {16}),
        (["SYSCALL[7,1](4) sys_newstat ( 0x400000(/a), 0x2008 )[sync] --> Success(0x0)"], {32}),
        (["SYSCALL[7,1](21) sys_access ( 0x2000(/etc/hosts), 4 )[sync] --> Success(0x0)"], {32}),
        (["SYSCALL[7,1](9) sys_mmap ( 0x0, 4096, 3, 34, 0, 0 ) --> Success(0x1000)"], set()),
        (["SYSCALL[7,1](28) sys_madvise ( 0x1000, 4096, 4 ) --> Success(0x0)"], set()),
        (["SYSCALL[7,1](8) sys_lseek ( 3, 4096, 0 )[sync] --> Success(0x1000)"], set()),
        (["**7** hw touch 1008 0 0"], {16}),
        ([f"SYSCALL[7,1](1) sys_write ( 1, 0x1000, 9 ) --> [async] ... {RUNS.format(1)}"], {16}),
    ],
)
def test_system_calls_use_what_they_are_given(
    lines: list[str], touched: set[int], tmp_path: Path
) -> None:
    report = read(tmp_path, *malloc(0x1000, 16), *malloc(0x2000, 32), *lines)
    assert report["never_accessed"]["bytes"] == 48 - sum(touched)


def test_a_system_call_that_waits_uses_its_buffers_until_its_end(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        *malloc(0x1000, 16),
        READ + "[async] ... ",
        BEGINS.format(2),
        *malloc(0x2000, 100),
        RUNS.format(1),
        "SYSCALL[7,1](0) ... [async] --> Success(0x10) ",
        *malloc(0x3000, 10),
    )
    assert report["needed_area"] == 16 * 116 + 100 * 100 + 10 * 10


def test_exec_and_child_processes_are_reported(tmp_path: Path) -> None:
    clone = "SYSCALL[7,1](56) sys_clone ( 1200011, 0x0 )   clone(fork): process 7 created child 9"
    failed = "SYSCALL[7,1](59) sys_execve ( 0x400000(/a), 0x1, 0x2 )[pre-fail] Failure(0x2)"
    execve = "SYSCALL[7,1](59) sys_execve ( 0x400000(/b), 0x1, 0x2 )"
    report = read(tmp_path, clone, failed)
    assert (report["children"], report["replaced"]) == (1, False)
    report = read(tmp_path, clone, failed, last=execve)
    assert (report["children"], report["replaced"]) == (1, True)


def test_inconsistent_events_are_counted(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        " L zzz,8",
        "**7** hw call 9 0 0",
        "**7** hw call 1",
        *free(0x1000),
        *malloc(0x2000, 16),
        *malloc(0x2008, 16),
        *malloc(0xFFFF800000000000, 16),
    )
    assert report["misread_lines"] == 3
    assert report["unknown_frees"] == 1
    assert report["overwritten"] == 1
    assert report["unplaced"] == 1


def test_an_empty_log_is_nothing(tmp_path: Path) -> None:
    report = read(tmp_path)
    assert report["objects"] == 0
    assert report["curves"]["held"] == []
    assert report["marked"] is True


@pytest.mark.parametrize(
    "words", [[], ["--result-fd", "1"], ["--result-fd", "99", "--", "true"], ["--calls", "1"]]
)
def test_misuse_is_reported(words: list[str]) -> None:
    try:
        program = native.program("drag")
    except native.NativeMissingError as error:
        pytest.skip(str(error))
    done = subprocess.run([program, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "usage:" in done.stderr
