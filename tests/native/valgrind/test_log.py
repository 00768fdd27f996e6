# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The reader of the log, on logs written by hand: no valgrind runs here."""

import json
import subprocess
from pathlib import Path

import pytest

from heapwright.base import native

BEGINS = "--7--   SCHED[{}]:  acquired lock (thread_wrapper(starting new thread))"
RUNS = "--7--   SCHED[{}]:  acquired lock (VG_(client_syscall)[async])"
START = ["==7== Lackey, an example Valgrind tool", BEGINS.format(1), "**7** hw marks 500000"]
CODE = "**7** hw code 400000 400100 0 {}"
INSTRUCTION = "I  00400000,3"


def read(tmp_path: Path, *lines: str, code: bytes = b"\x90" * 64) -> dict[str, int]:
    """What heapwright-count makes of these lines; the code at 400000 is `code`."""
    try:
        program = native.program("count")
    except native.NativeMissingError as error:
        pytest.skip(str(error))
    (tmp_path / "code").write_bytes(code)
    log = tmp_path / "log"
    log.write_text("\n".join([*START, CODE.format(tmp_path / "code"), *lines, ""]))
    done = subprocess.run(
        [program, "--result-fd", "1", "--trace", log], capture_output=True, text=True, check=True
    )
    report = json.loads(done.stdout)
    assert isinstance(report, dict)
    return report


def malloc(address: int, *inside: str, size: int = 16) -> list[str]:
    return [
        "**7** hw call 1 7f0000 0",
        INSTRUCTION,
        *inside,
        f"**7** hw call 0 {address:x} {size:x}",
    ]


def free(address: int, *inside: str) -> list[str]:
    return [f"**7** hw call 4 7f0000 {address:x}", INSTRUCTION, *inside, "**7** hw call 0 0 0"]


def test_only_what_is_inside_counts(tmp_path: Path) -> None:
    report = read(tmp_path, INSTRUCTION, " S 00600000,8", *malloc(0x1000), INSTRUCTION)
    assert report["instructions"] == 1
    assert report["metadata_lines"] == 0
    assert (report["calls"], report["threads"], report["misread_lines"]) == (1, 1, 0)


def test_instructions_are_decoded_where_execution_goes(tmp_path: Path) -> None:
    # A jump past the prefix executes the same instruction without it.
    code = b"\xf0\x83\x00\x01" + b"\x87\x07"
    inside = ["I  00400000,4", "I  00400001,3", "I  00400004,2"]
    report = read(tmp_path, "**7** hw call 1 7f0000 0", *inside, "**7** hw call 0 0 0", code=code)
    assert (report["lock_prefixed"], report["exchanges"]) == (1, 1)
    assert report["instructions"] == 3


def test_an_instruction_of_nowhere_is_unknown(tmp_path: Path) -> None:
    report = read(tmp_path, *malloc(0x1000, "I  00900000,3"))
    assert (report["instructions"], report["unknown_instructions"]) == (2, 1)


def test_loads_share_nothing_and_modifications_do(tmp_path: Path) -> None:
    other = BEGINS.format(2)
    loads = read(tmp_path, *malloc(16, " S 600000,8"), other, *malloc(32, " L 600000,8"))
    assert loads["shared_metadata_lines"] == 0
    modified = read(tmp_path, *malloc(16, " S 600000,8"), other, *malloc(32, " M 600010,8"))
    assert modified["shared_metadata_lines"] == 1
    assert modified["writes_to_shared_lines"] == 2


def test_a_switch_within_a_call_and_behind_an_unfinished_line(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        "**7** hw call 1 7f0000 0",
        INSTRUCTION,
        " S 600000,8",
        BEGINS.format(2),
        *malloc(0x20, " S 600040,8"),
        " --> [pre-success] Success(0x6697) " + RUNS.format(1),
        "",
        " S 600008,8",
        "**7** hw call 0 10 10",
        RUNS.format(2),
        *malloc(0x30, " S 600048,8"),
    )
    assert report["metadata_lines"] == 2
    assert report["shared_metadata_lines"] == 0, "each has its own line"
    assert (report["threads"], report["calls"]) == (2, 3)


def test_a_thread_that_takes_the_place_of_another_is_another(tmp_path: Path) -> None:
    report = read(
        tmp_path, *malloc(16, " S 600000,8"), BEGINS.format(1), *malloc(32, " S 600000,8")
    )
    assert (report["threads"], report["shared_metadata_lines"]) == (2, 1)


@pytest.mark.parametrize(
    ("call", "shared"),
    [
        ("SYSCALL[7,1](28) sys_madvise ( 0x600000, 4096, 4 ) --> [async] ... ", 0),
        ("SYSCALL[7,1](28) sys_madvise ( 0x600000, 4096, 1 ) --> [async] ... ", 1),
        ("SYSCALL[7,1](9) sys_mmap ( 0x0, 8192, 3, 50, -1, 0 ) --> [ok] Success(0x5ff000) ", 0),
        ("SYSCALL[7,1](9) sys_mmap ( 0x0, 8192, 3, 34, -1, 0 ) --> [ok] Failure(0xc) ", 1),
        ("**7** hw stack 5ff000 602000", 0),
        ("**7** hw stack 7e0000 0", 1),
    ],
    ids=["given back", "other advice", "mapped", "not mapped", "a new stack", "unknown stack"],
)
def test_memory_begins_a_new_life(tmp_path: Path, call: str, shared: int) -> None:
    first = malloc(16, " S 600000,8")
    report = read(tmp_path, *first, BEGINS.format(2), call, *malloc(32, " S 600000,8"))
    assert report["shared_metadata_lines"] == shared


def test_live_objects_are_the_programs_and_freed_ones_the_allocators(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        *malloc(0x600000, size=64),
        *malloc(0x10, " S 00600020,8"),
        *malloc(0x20, " S 00600040,8"),
    )
    assert report["metadata_lines"] == 1, "the second is behind the object"
    report = read(tmp_path, *malloc(0x600000, size=64), *free(0x600000, " S 00600020,8"))
    assert report["metadata_lines"] == 1


def test_writes_to_the_callers_stack_are_not_metadata(tmp_path: Path) -> None:
    stack = "**7** hw stack 7e0000 800000"
    report = read(tmp_path, stack, *malloc(16, " S 7efff8,8", " S 7dfff8,8", " S 7f0000,8"))
    assert report["metadata_lines"] == 2


def test_copies_by_realloc_count_as_the_programs_accesses(tmp_path: Path) -> None:
    resize = ["**7** hw call 3 7f0000 600000", INSTRUCTION]
    moved = [*resize, " S 700010,8", " S 600000,8", "**7** hw call 0 700000 40"]
    report = read(tmp_path, *malloc(0x600000, size=64), *moved)
    assert report["metadata_lines"] == 1, "the link in what it was moved from"
    failed = [*resize, "**7** hw call 0 0 100000"]
    report = read(tmp_path, *malloc(0x600000, size=64), *failed, *malloc(16, " S 600008,8"))
    assert report["metadata_lines"] == 0, "it is still the program's"


def test_a_call_that_is_left_by_a_jump_ends_at_the_next(tmp_path: Path) -> None:
    left = ["**7** hw call 2 7f0000 0", INSTRUCTION, " S 600000,8"]
    report = read(tmp_path, *left, *malloc(16))
    assert (report["calls"], report["metadata_lines"]) == (2, 1)


def test_calls_that_do_nothing_are_no_calls(tmp_path: Path) -> None:
    asks = ["**7** hw call 5 7f0000 0", INSTRUCTION, "**7** hw call 0 0 0"]
    report = read(tmp_path, *free(0), *asks)
    assert (report["calls"], report["idle_calls"], report["instructions"]) == (0, 2, 2)


@pytest.mark.parametrize("line", ["I  00400x00,3", " S 600000", " L ,8", "**7** hw call 9 0 0"])
def test_a_line_that_makes_no_sense_is_counted(tmp_path: Path, line: str) -> None:
    assert read(tmp_path, *malloc(16), line)["misread_lines"] == 1


@pytest.mark.parametrize(
    "words", [[], ["--result-fd", "1"], ["--result-fd", "77", "--", "true"], ["--seconds", "-1"]]
)
def test_a_wrong_command_line_is_explained(words: list[str]) -> None:
    try:
        program = native.program("count")
    except native.NativeMissingError as error:
        pytest.skip(str(error))
    done = subprocess.run([program, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "usage: heapwright-count" in done.stderr
