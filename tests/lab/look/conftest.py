# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Processes whose heap has a known shape, and what heapwright-look says of them."""

import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent / "programs"


@dataclass(frozen=True)
class Shape:
    """A process that waits with its heap, and the truth about it."""

    process: "subprocess.Popen[str]"
    blocks: int
    bytes: int

    @property
    def pid(self) -> int:
        return self.process.pid

    def ask(self, word: str) -> int:
        """The number that it prints for a line of input."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{word}\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline().split()[1])


Start = Callable[..., AbstractContextManager[Shape]]


def compiled(folder: Path, name: str, *more: str) -> Path:
    """A program of this folder. Skips without a compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler (package gcc)")
    made = folder / name
    words = (compiler, "-O1", "-pthread", "-o", str(made), str(PROGRAMS / f"{name}.c"), *more)
    subprocess.run(words, check=True)
    return made


@pytest.fixture(scope="session")
def shapes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that constructs heaps."""
    return compiled(tmp_path_factory.mktemp("shapes"), "shapes")


@pytest.fixture
def shape(shapes: Path) -> Start:
    """Starts a process with a heap of a name, and with variables in its environment."""
    return starter(shapes)


@pytest.fixture
def static_shape(tmp_path: Path) -> Start:
    """The same with a static program that has no symbols."""
    return starter(compiled(tmp_path, "shapes", "-static", "-s"))


def starter(program: Path) -> Start:
    """Starts the program that constructs heaps."""

    @contextmanager
    def start(name: str, **environment: str) -> Iterator[Shape]:
        with subprocess.Popen(
            [str(program), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        ) as process:
            try:
                assert process.stdout is not None
                _, blocks, size = process.stdout.readline().split()
                yield Shape(process, int(blocks), int(size))
            finally:
                process.kill()

    return start
