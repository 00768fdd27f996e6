# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Addresses in the file of another tool are named by the files of this machine."""

import shutil
from pathlib import Path

import pytest

from heapwright.artefacts.stacks.profile import functions_at
from heapwright.profile.stacks import NOW, read_named_stacks
from heapwright.profile.symbols.names import Known
from support.running import ran
from support.tool_files import GPERFTOOLS, pprof

PROGRAM = """
#include <stdlib.h>
int grab(void) { return malloc(1) != 0; }
int main(void) { return grab(); }
"""


def names(path: Path) -> list[str]:
    found = read_named_stacks(path)
    return [
        each.name
        for number in range(1, len(found.calls.nodes))
        for each in functions_at(found.calls, number)
    ]


def test_an_address_is_named_by_its_file(tmp_path: Path) -> None:
    compiler = shutil.which("cc") or pytest.skip("no cc (package gcc)")
    (tmp_path / "program.c").write_text(PROGRAM)
    program = tmp_path / "program"
    # The segment of code is at another address than its place in the file.
    made = ran(
        [compiler, "-g", "-Wl,-Ttext-segment=0x7000000", "-no-pie", "-o", program, f"{program}.c"]
    )
    assert made.returncode == 0, made.stderr
    table = ran(["nm", program]).stdout.splitlines()
    begin = next(int(line.split()[0], 16) for line in table if line.endswith(" T grab"))
    offset = begin - 0x7000000
    file = tmp_path / "heap"
    file.write_text(
        f"heap profile: 1: 8 [ 1: 8] @ heapprofile\n1: 8 [ 1: 8] @ {0x10000 + offset + 4:#x}\n"
        f"\nMAPPED_LIBRARIES:\n10000-90000 r-xp 00000000 fe:00 7 {program}\n"
    )
    assert names(file) == ["grab"]
    assert NOW in read_named_stacks(file).notes
    known: Known = {}
    found = read_named_stacks(file, known)
    assert [each.name for functions in known.values() for each in functions] == ["grab"]
    program.unlink()
    assert read_named_stacks(file, known) == found, "known places are not looked up again"


def test_an_address_without_its_file_stays_one(tmp_path: Path) -> None:
    (tmp_path / "heap").write_text(GPERFTOOLS)
    assert names(tmp_path / "heap") == ["program+0x1020", "program+0x1010", "program+0x1030"]


def test_names_of_the_file_stay(tmp_path: Path) -> None:
    (tmp_path / "heap").write_bytes(pprof())
    found = read_named_stacks(tmp_path / "heap")
    assert names(tmp_path / "heap") == ["main"]
    assert not found.notes
