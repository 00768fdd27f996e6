# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A trace of a whole program, by a library that is its malloc: from the first call to the last."""

import os
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from heapwright.artefacts.allocator.catalogue import ComposedAllocator
from heapwright.base import native
from heapwright.base.errors import HeapwrightError
from heapwright.compose.compiler import find_compiler
from heapwright.compose.library import build_library
from support.running import ran

HERE = Path(__file__).parent
PLAIN = {key: value for key, value in os.environ.items() if not key.startswith("LD_")}
LINE = re.compile(r"(\d+) (\w+)(?: (0x[0-9a-f]+))?((?: \d+)*)(?: = (?:0x)?[0-9a-f]+)?")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("traced")
    shutil.copy(HERE / "traced.hpp", folder)
    try:
        compiler = find_compiler(None, os.environ, folder)
    except HeapwrightError as missing:
        pytest.skip(f"{missing} (package g++)")
    installed = native.native_dir()
    compiler.include = (installed / "include", installed, folder)
    entry = ComposedAllocator("traced", "traced.hpp", "heapwright::observed::Traced", "")
    made, answer = build_library(compiler, installed, folder, entry)
    assert answer.valid, answer.pages
    return made


@pytest.fixture(scope="module")
def family(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc") or pytest.skip("no compiler cc (package gcc)")
    made = tmp_path_factory.mktemp("family") / "family"
    options = ["-w", "-O0", "-fno-builtin"]
    subprocess.run([compiler, *options, "-o", made, HERE / "family.c"], check=True)
    return made


def run(program: list[str | Path], library: Path, trace: str | None) -> None:
    variable = {} if trace is None else {"HEAPWRIGHT_TRACE": trace}
    done = ran(program, env=PLAIN | variable | {"LD_PRELOAD": str(library)}, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def requests(trace: Path) -> tuple[list[int], Counter[int]]:
    """The sequence numbers of a trace, and the number of requests of each size."""
    numbers = []
    sizes: Counter[int] = Counter()
    for line in trace.read_text(encoding="ascii").splitlines():
        found = LINE.fullmatch(line)
        assert found, line
        numbers.append(int(found[1]))
        if found[2] == "malloc":
            sizes[int(found[4])] += 1
    return numbers, sizes


def test_parent_and_child_write_a_file_each(library: Path, family: Path, tmp_path: Path) -> None:
    run([family], library, str(tmp_path / "t"))
    traces = [requests(path) for path in tmp_path.iterdir()]
    (parent, child) = sorted(traces, key=lambda trace: trace[0][0])
    assert parent[0] == list(range(1, len(parent[0]) + 1))
    assert (parent[1][1001], parent[1][2002], parent[1][3003]) == (500, 0, 500)
    assert child[0] == list(range(child[0][0], child[0][0] + len(child[0])))
    assert (child[1][1001], child[1][2002], child[1][3003]) == (0, 500, 0)


def test_a_program_that_closes_the_descriptor_goes_on(
    library: Path, family: Path, tmp_path: Path
) -> None:
    run([family, "1000"], library, str(tmp_path / "t"))
    (before, child) = sorted(
        (requests(path) for path in tmp_path.iterdir()), key=lambda trace: trace[0][0]
    )
    assert before[0] == list(range(1, len(before[0]) + 1)), "a true beginning"
    assert before[1][1001] > 300
    assert before[1][3003] == 0
    assert child[1][2002] == 500, "which opens a file of its own"


@pytest.mark.parametrize("trace", [None, "/no/such/folder/t"])
def test_without_a_place_to_write_the_program_goes_on(
    library: Path, family: Path, trace: str | None
) -> None:
    run([family], library, trace)
