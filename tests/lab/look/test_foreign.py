# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Processes under jemalloc and TCMalloc: recognised, and with bounds that are true."""

from pathlib import Path

import pytest

from heapwright.artefacts.look.document import Kind, Look
from heapwright.base.errors import ExitCode
from heapwright.commands.look import Options, run_look
from heapwright.look.foreign import contained_in

from .conftest import Shape, Start, compiled, starter

LIBRARIES = {
    "jemalloc": "libjemalloc.so.2",
    "tcmalloc": "libtcmalloc_minimal.so.4",
}
SLACK = 1.5
"""Of the bound: the allocator's own tables, and the anonymous memory of libraries."""


def look_at(shape: Shape, folder: Path) -> Look:
    file = folder / "look.json"
    options = Options(str(shape.pid), pause=False, leaks=True, json_file=str(file), quiet=False)
    assert run_look(options) is ExitCode.OK
    return Look.from_json(file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", LIBRARIES)
def test_the_heap_of_another_allocator_has_a_bound(
    shape: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    with shape("small", LD_PRELOAD=LIBRARIES[name]) as truth:
        found = look_at(truth, tmp_path)
    assert found.allocator == name
    assert found.foreign is not None
    assert LIBRARIES[name] in found.foreign.file
    assert contained_in(Path(found.foreign.file)) == name, "a stripped library is recognised too"
    assert truth.bytes <= found.foreign.most_resident_bytes <= SLACK * truth.bytes + (8 << 20)
    assert found.verdict.kind is Kind.UNKNOWN
    assert found.foreign.counters is None
    assert f"the heap of {name} cannot be read from outside" in found.verdict.sentence
    assert f"gdb -p {truth.pid}" in found.verdict.remedy
    assert found.verdict.sentence in capsys.readouterr().out


@pytest.mark.programs
def test_an_allocator_inside_a_program_is_recognised(tmp_path: Path) -> None:
    archive = next(Path("/usr/lib").glob("*/libjemalloc.a"), None)
    if archive is None:
        pytest.skip("needs libjemalloc.a (package libjemalloc-dev)")
    program = compiled(tmp_path, "shapes", str(archive), "-lm", "-ldl", "-lstdc++", "-s")
    with starter(program)("small") as truth:
        found = look_at(truth, tmp_path)
    assert found.allocator == "jemalloc"
    assert found.foreign is not None
    assert found.foreign.file == str(program)
    assert truth.bytes <= found.foreign.most_resident_bytes


def test_a_program_without_another_allocator_contains_none(shapes: Path, tmp_path: Path) -> None:
    assert contained_in(shapes) == ""
    empty = tmp_path / "empty"
    empty.touch()
    assert contained_in(empty) == ""
    assert contained_in(tmp_path / "missing") == ""


def test_glibc_is_not_another_allocator(shape: Start, tmp_path: Path) -> None:
    with shape("small") as truth:
        assert look_at(truth, tmp_path).foreign is None
