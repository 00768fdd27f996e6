# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Builds the programs of known drag, once each."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from heapwright.artefacts.drag.document import Drag
from heapwright.base import native
from heapwright.commands.drag import watch_command
from heapwright.drag import instrumented, valgrind

from .known import Known

PROGRAMS = Path(__file__).parent / "programs"
FLAGS = ("-O1", "-g", "-fno-builtin", "-pthread", "-Wall", "-Wextra", "-Werror")

COMPILERS = {
    "gcc": {".c": ("gcc", "cc"), ".cpp": ("g++", "c++")},
    "clang": {".c": ("clang", "clang-14"), ".cpp": ("clang++", "clang++-14")},
}

Build = Callable[..., Path]
Rebuild = Callable[..., Path]
Watch = Callable[..., Drag]


def known_of(found: Drag) -> Known:
    """What a document says, to be held against what is known."""
    return Known(
        objects=found.objects,
        allocated_bytes=found.allocated_bytes,
        held_area=found.held_area,
        needed_area=found.needed_area,
        peak_held=found.peak_held.bytes,
        peak_needed=found.peak_needed.bytes,
        never_freed=found.never_freed.objects,
        never_accessed=found.never_accessed.objects,
    )


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """`programs/NAME.c` or `.cpp`, compiled with the project's flags and more; skips without a
    compiler.
    """
    folder = tmp_path_factory.mktemp("drag")

    def program(name: str, *flags: str) -> Path:
        output = folder / f"{name}-{abs(hash(flags)):x}"
        if not output.exists():
            (source,) = PROGRAMS.glob(f"{name}.c*")
            compiler = shutil.which("c++" if source.suffix == ".cpp" else "cc")
            if compiler is None:
                pytest.skip("needs a C and C++ compiler (package g++)")
            words = [compiler, *FLAGS, *flags, str(source), "-o", str(output)]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
        return output

    return program


@pytest.fixture
def watch() -> Watch:
    """The drag of a command, by valgrind; skips where there is none, and says why."""
    if reason := valgrind.missing():
        pytest.skip(reason)

    def drag(*command: object) -> Drag:
        found, _ = watch_command(tuple(map(str, command)), "valgrind")
        return found

    return drag


@pytest.fixture(scope="session", params=["gcc", pytest.param("clang", marks=pytest.mark.compiles)])
def rebuild(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Rebuild:
    """A program of programs/, rebuilt as `heapwright drag --flags` has it, by either compiler."""
    folder = tmp_path_factory.mktemp("rebuilt")
    names = COMPILERS[request.param]

    def program(name: str, *flags: str) -> Path:
        try:
            ours = instrumented.flags()
        except native.NativeMissingError as error:
            pytest.skip(f"{error.message}: {error.hint}")
        output = folder / f"{name}{''.join(flags)}"
        if not output.exists():
            (source,) = PROGRAMS.glob(f"{name}.c*")
            compiler = next(filter(None, map(shutil.which, names[source.suffix])), None)
            if compiler is None:
                pytest.skip(f"no {names[source.suffix][0]} (packages g++, clang-14)")
            standard = ["-std=c++20"] if source.suffix == ".cpp" else []
            words = [compiler, *FLAGS, *standard, *ours, *flags, str(source), "-o", str(output)]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            assert not done.stderr
        return output

    return program


def watch_rebuilt(*command: object) -> Drag:
    """The drag of a command of which a part was rebuilt."""
    found, _ = watch_command(tuple(map(str, command)), "instrumented")
    return found
