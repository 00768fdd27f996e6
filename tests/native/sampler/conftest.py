# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Compiles programs and runs them under the libraries that sample.

A test with the fixture `sampled` runs twice: with the sampler in front of the C library's
allocator, and with granary, which samples inside.
"""

import os
import shutil
from pathlib import Path

import pytest

from heapwright.artefacts.stacks.read import read_stacks
from heapwright.base import native
from heapwright.base.errors import HeapwrightError
from support.running import ran

from .bench import INCLUDE, Compiled, Document, Run, Sampled

COMPILERS = {".c": "gcc", ".cpp": "g++"}


@pytest.fixture(scope="session")
def library() -> Path:
    try:
        return native.library("sampler")
    except HeapwrightError as error:
        pytest.skip(f"needs the compiled parts: {error}")


@pytest.fixture(scope="session")
def granary_sampled() -> Path:
    try:
        return native.library("granary-sampled")
    except HeapwrightError as error:
        pytest.skip(f"needs the compiled parts: {error}")


@pytest.fixture
def front(library: Path, tmp_path: Path) -> Sampled:
    """Runs a command under the sampler in front of its allocator."""
    return _runs(library, "HEAPWRIGHT_SAMPLE", "", tmp_path)


@pytest.fixture
def inside(granary_sampled: Path, tmp_path: Path) -> Sampled:
    """Runs a command under granary with samples."""
    return _runs(granary_sampled, "HEAPWRIGHT_GRANARY", "sample=", tmp_path)


@pytest.fixture(params=["front", "inside"])
def sampled(request: pytest.FixtureRequest) -> Sampled:
    """Each of both."""
    found: Sampled = request.getfixturevalue(request.param)
    return found


def _runs(library: Path, switch: str, before: str, tmp_path: Path) -> Sampled:
    """Runs a command, and returns its end and its documents in the order of their numbers.

    The variable `switch` has the mean distance of samples, behind the text `before`.
    """

    def run(*command: str | Path, behind: str = "", **settings: str) -> Run:
        folder = tmp_path / "documents"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        variables = {f"HEAPWRIGHT_SAMPLE_{name.upper()}": text for name, text in settings.items()}
        if "mean" in settings:
            variables[switch] = f"{before}{settings['mean']}"
        preload = ":".join(filter(None, (str(library), behind)))
        environment = {
            **os.environ,
            "HEAPWRIGHT_SAMPLE_FILE": str(folder / "of"),
            **variables,
            "LD_PRELOAD": preload,
        }
        done = ran(command, env=environment, cwd=tmp_path)
        found = sorted(folder.glob("*.samples"), key=lambda each: int(each.name.rsplit(".", 2)[1]))
        assert not list(folder.glob("*.part"))
        return Run(done, [Document(each, read_stacks(each)) for each in found])

    return run


@pytest.fixture
def compiled(tmp_path: Path) -> Compiled:
    """Compiles a program from its text."""

    def compile_it(text: str, suffix: str = ".c", *options: str) -> Path:
        compiler = shutil.which(COMPILERS[suffix])
        if compiler is None:
            pytest.skip("needs gcc and g++ (Debian's package g++)")
        source, program = tmp_path / f"program{suffix}", tmp_path / "program"
        source.write_text(text)
        done = ran(
            [compiler, "-g", "-O0", f"-I{INCLUDE}", source, "-o", program, "-pthread", *options]
        )
        assert done.returncode == 0, done.stderr
        return program

    return compile_it
