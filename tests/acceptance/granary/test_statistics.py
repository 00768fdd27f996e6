# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The reports of granary about itself are right and whole, and appear at the requested time and
place.
"""

import json
import os
import re
import signal
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import jsonschema  # type: ignore[import-untyped]
import pytest

from heapwright.artefacts.allocator.granary_statistics import GranaryStatistics
from heapwright.artefacts.schemas import schema_text

from .conftest import Ask

SCHEMA = json.loads(schema_text("granary-statistics"))


# The bytes of 1,000 objects of 112 bytes. A thread takes its first three from a coarser class. The
# hardened form has no coarse classes, and eight more bytes at the end of each object.
TAKEN = {
    "granary": 997 * 112 + 3 * 128,
    "granary-strict": 997 * 112 + 3 * 128,
    "granary-hardened": 1000 * 128,
}


def checked(line: str) -> GranaryStatistics:
    """A line of JSON, after it was held against the published schema."""
    jsonschema.validate(json.loads(line), SCHEMA)
    return GranaryStatistics.from_json(line)


def test_figures_follow_what_the_program_does(ask: Ask, allocator: str) -> None:
    answer = ask("statistics")
    assert answer["objects"] == "1001"
    assert answer["bytes"] == str(TAKEN[allocator])
    assert answer["large"] == "1"
    assert answer["large_enough"] == "1"
    assert answer["left"] == "0"
    assert answer["locks"] == "1"


def test_statistics_at_exit_follow_the_schema(ask: Ask, allocator: str) -> None:
    answer = ask("walk", "statistics=exit,format=json,return=never")
    found = checked(answer.err)
    assert found.allocator == allocator
    assert found.settings["return"] == "never"
    assert found.settings["format"] == "json"
    assert found.live.objects == sum(each.live for each in found.classes) + found.large.objects
    assert found.cached.objects == sum(each.cached for each in found.classes)
    assert found.live.bytes == found.large.bytes + sum(
        each.live * each.size for each in found.classes
    )
    assert found.caches.all.refills > 0
    assert found.locks.heaps.takes > found.locks.shared.takes > 0
    assert found.system.maps > 0
    chunks = found.chunks
    assert chunks.used_bytes + chunks.dirty_bytes + chunks.clean_bytes <= chunks.bytes


def test_each_process_prints_for_itself(ask: Ask, tmp_path: Path) -> None:
    answer = ask("fork-and-end", "statistics=exit,format=json,to=all", tmp_path)
    assert answer.err == ""
    lines = (tmp_path / "all").read_text(encoding="utf-8").splitlines()
    found = [checked(line) for line in lines]
    assert len(found) == 4
    assert len({each.process for each in found}) == 4


def test_a_file_can_have_the_number_of_its_process(ask: Ask, tmp_path: Path) -> None:
    ask("fork-and-end", "statistics=exit,format=json,to=one-%p.json", tmp_path)
    files = sorted(tmp_path.iterdir())
    assert len(files) == 4
    for file in files:
        found = checked(file.read_text(encoding="utf-8"))
        assert file.name == f"one-{found.process}.json"


def test_statistics_are_printed_after_the_program_closed_stderr(ask: Ask) -> None:
    assert checked(ask("close", "statistics=exit,format=json").err).process > 0


def test_a_descriptor_can_be_named(ask: Ask, allocator: str) -> None:
    answer = ask("nothing", "statistics=exit,to=1")
    assert answer.out.startswith(f"{allocator} ")
    assert answer.err == ""


def test_an_unwritable_destination_does_not_harm_the_program(ask: Ask) -> None:
    for place in ("/no/such/folder/file", "77"):
        assert ask("nothing", f"statistics=exit,to={place}").status == 0


def test_the_table_fits_a_terminal_and_has_a_line_for_each_class(ask: Ask) -> None:
    table = ask("walk", "statistics=exit").err
    assert max(map(len, table.splitlines())) <= 80
    classes = re.findall(r"^ {1,6}\d+ +\d+ +\d+ +\d+ +[\d.]+ .?i?B +\d+$", table, re.MULTILINE)
    assert len(classes) > 20
    assert re.search(r"^    all +\d+ ", table, re.MULTILINE) or " of 1 threads" in table


def test_a_signal_prints_while_the_program_waits(
    asked: Path, under: Callable[[str], Mapping[str, str]]
) -> None:
    """The program does nothing with its heap; the thread prints."""
    with subprocess.Popen(
        [asked, "wait"],
        env=under("statistics=signal:USR2,format=json"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as program:
        assert program.stdout is not None
        assert program.stderr is not None
        assert program.stdout.readline() == "ready\n"
        found = []
        for _ in range(3):
            os.kill(program.pid, signal.SIGUSR2)
            found.append(checked(program.stderr.readline()))
        program.kill()
        assert {each.process for each in found} == {program.pid}


def test_a_statistics_signal_does_not_interrupt_the_program(ask: Ask) -> None:
    answer = ask("raise", "statistics=signal:USR2,format=json,to=2")
    assert answer.out == "went on\n"
    assert answer.status == 0
    for line in answer.err.splitlines():
        checked(line)


def test_a_program_can_print_statistics_on_request(ask: Ask, allocator: str) -> None:
    answer = ask("print")
    assert answer.status == 0, "what cannot be written is told"
    lines = answer.out.splitlines()
    assert lines[0].startswith(f"{allocator} ")
    assert "table=0" in lines
    checked(lines[-1])


@pytest.mark.parametrize("what", ["walk", "statistics", "fork"])
def test_statistics_change_nothing_of_what_a_program_says(ask: Ask, what: str) -> None:
    plain, told = ask(what), ask(what, "statistics=exit,to=/dev/null")
    names = [[name for name, _ in each.lines] for each in (plain, told)]
    assert names[0] == names[1]
    assert told.err == ""
