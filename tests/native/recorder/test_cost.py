# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What recording costs: instructions for a call, bytes for an event."""

import platform
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from .bench import Bench

MOST_INSTRUCTIONS = 100
"""Added to one call of a tight loop of malloc and free."""
MOST_BYTES = 10
FEW, MANY = 10000, 60000
QUERY = """
with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)
select count(distinct hex(i) || printf('%d', i)) from n;
"""


def instructions(recording: Bench, program: Path, pairs: int, *, recorded: bool) -> int:
    """All that the program executes, by callgrind."""
    tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    command = [*tool, str(program), str(pairs)]
    if recorded:
        # The child of valgrind is itself: the one process that is to be recorded.
        words = recording.words(recording.path(), "--no-system")
        command = [*words, *command]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    assert found, done.stderr
    return int(found.group(1))


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="no valgrind (package valgrind)")
@pytest.mark.skipif(platform.machine() != "x86_64", reason="counts are kept for x86-64")
def test_instructions_of_a_call(recording: Bench) -> None:
    program = recording.program("pairs.c")
    pair = {}
    for recorded in (False, True):
        few, many = (instructions(recording, program, n, recorded=recorded) for n in (FEW, MANY))
        pair[recorded] = (many - few) / (MANY - FEW)
    added = (pair[True] - pair[False]) / 2
    assert 40 < added <= MOST_INSTRUCTIONS


@pytest.mark.parametrize(
    ("command", "package"),
    [
        (["python3", "-S", "-c", "import json; json.dumps(list(range(50000)))"], "python3"),
        (["perl", "-e", "my %h = map { $_ => $_ x 3 } 1..50000; print length(keys %h)"], "perl"),
        (["sqlite3", ":memory:", QUERY], "sqlite3"),
    ],
)
def test_bytes_of_an_event(
    recording: Bench, command: list[str], package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = shutil.which(command[0], path="/usr/bin:/bin")
    if program is None:
        pytest.skip(f"{command[0]} is not installed (package {package})")
    monkeypatch.setenv("PYTHONMALLOC", "malloc")
    run = recording.record([program, *command[1:]])
    assert run.said["exit_status"] == 0
    recording.sound(run)
    events = run.said["events"]
    assert events > 1000
    fixed = 96 << 10  # the header, a process, blocks that have just begun
    assert run.said["bytes"] - fixed <= MOST_BYTES * events
