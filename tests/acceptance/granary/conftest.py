# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A program that asks granary, plain or hardened, for things, and what it answers."""

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from heapwright.base import native
from heapwright.base.native import NativeMissingError
from support.running import ran

ROOT = Path(__file__).parents[3]
PROGRAMS = Path(__file__).parent / "programs"
PROGRAM = PROGRAMS / "asked.c"
OPTIONS = ("-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-fno-builtin", "-pthread")
SETTINGS = "HEAPWRIGHT_GRANARY"

Ask = Callable[..., "Answer"]


class Answer:
    """What a program said, and how it ended."""

    def __init__(self, done: subprocess.CompletedProcess[str]) -> None:
        self.status, self.out, self.err = done.returncode, done.stdout, done.stderr

    @property
    def lines(self) -> list[tuple[str, str]]:
        """Each NAME=VALUE, as they come."""
        split = (line.partition("=") for line in self.out.splitlines())
        return [(name, value) for name, equals, value in split if equals]

    def __getitem__(self, name: str) -> str:
        return dict(self.lines)[name]


@pytest.fixture(scope="session", params=["granary", "granary-strict", "granary-hardened"])
def allocator(request: pytest.FixtureRequest) -> str:
    """Each that has granary's settings and functions."""
    assert isinstance(request.param, str)
    return request.param


@pytest.fixture(scope="session")
def library(allocator: str) -> Path:
    try:
        return native.library(allocator)
    except NativeMissingError as error:
        pytest.skip(f"{error.message}: {error.hint}")


@pytest.fixture(scope="session")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs, compiled; programs/asked.c, and beside it the others."""
    compiler = shutil.which("cc") or pytest.skip("needs a C compiler (package gcc)")
    folder = tmp_path_factory.mktemp("asked")
    for source in PROGRAMS.glob("*.c"):
        command = [compiler, *OPTIONS, f"-I{ROOT / 'include'}", source, "-o", folder / source.stem]
        subprocess.run(command, check=True)
    return folder / PROGRAM.stem


@pytest.fixture(scope="session")
def under(library: Path) -> Callable[[str], Mapping[str, str]]:
    """A plain environment with granary in it, set as is said."""

    def environment(settings: str = "") -> Mapping[str, str]:
        foreign = ("LD_", "GLIBC_", "MALLOC_", SETTINGS)
        plain = {key: value for key, value in os.environ.items() if not key.startswith(foreign)}
        return plain | {"LD_PRELOAD": str(library)} | ({SETTINGS: settings} if settings else {})

    return environment


@pytest.fixture(scope="session")
def ask(asked: Path, under: Callable[[str], Mapping[str, str]]) -> Ask:
    """Runs a program under granary."""

    def run(what: str, settings: str = "", folder: Path | None = None) -> Answer:
        program = asked.with_name("walked") if what.startswith("walk") else asked
        done = ran([program, what], env=under(settings), cwd=folder, timeout=300)
        return Answer(done)

    return run
