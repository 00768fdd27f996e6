# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that allocate all the time, and recordings of them."""

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from heapwright.base import native

PROGRAMS = Path(__file__).parent / "programs"
AGENT = "libheapwright-attached.so"


@dataclass(frozen=True)
class Worker:
    """A process that checks its blocks, and ends with a failure if one was damaged."""

    process: "subprocess.Popen[str]"

    @property
    def pid(self) -> int:
        return self.process.pid

    def ask(self, word: str = "more") -> int:
        """Makes it allocate. Returns how many blocks it has allocated so far."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{word}\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline().split()[1])

    def assert_unharmed(self) -> None:
        """It works, is not traced, and blocks no signal."""
        assert self.ask() < self.ask()
        table = status_of(self.pid)
        assert table["State"][0] in "SR"
        assert table["TracerPid"] == "0"
        assert int(table["SigBlk"], 16) == 0
        assert self.process.poll() is None

    def tasks(self) -> list[Path]:
        """The folders of its threads."""
        return list(Path(f"/proc/{self.pid}/task").iterdir())

    def has_agent(self) -> bool:
        return any(AGENT in each for each in maps_of(self.pid))

    def assert_clean(self) -> None:
        """Neither the recorder nor a trace is mapped or open."""
        assert not [each for each in maps_of(self.pid) if AGENT in each or ".trace" in each]
        folder = Path(f"/proc/{self.pid}/fd")
        assert not [each for each in folder.iterdir() if ".trace" in str(each.readlink())]


Start = Callable[..., AbstractContextManager[Worker]]


def maps_of(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/maps").read_text(encoding="utf-8").splitlines()


def status_of(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def agent_range(pid: int) -> tuple[int, int]:
    """The addresses of the recorder in the process."""
    parts = [each.split()[0].split("-") for each in maps_of(pid) if AGENT in each]
    numbers = [int(each, 16) for part in parts for each in part]
    return min(numbers), max(numbers)


def pointers_into(pid: int, begin: int, end: int) -> int:
    """The words in the data of programs and libraries that lead there: redirected entries."""
    found = 0
    with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
        for each in maps_of(pid):
            words = each.split()
            if len(words) < 6 or not words[5].startswith("/") or AGENT in each:
                continue
            if words[1][0] != "r" or words[1][2] == "x" or words[1][3] != "p":
                continue
            first, last = (int(word, 16) for word in words[0].split("-"))
            memory.seek(first)
            data = np.frombuffer(memory.read((last - first) & ~7), dtype=np.uint64)
            found += int(((data >= begin) & (data < end)).sum())
    return found


def compiled(folder: Path, name: str, *more: str, source: Path | None = None) -> Path:
    """A program of this folder. Skips without a compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler (package gcc)")
    made = folder / name
    file = source or PROGRAMS / f"{name}.c"
    subprocess.run((compiler, "-O1", "-pthread", "-o", str(made), str(file), *more), check=True)
    return made


@pytest.fixture(scope="session")
def worker_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("worker"), "worker")


@contextmanager
def started(program: Path, *words: str, user: int | None = None) -> Iterator[Worker]:
    """The program while it runs; it ends with its input."""
    with subprocess.Popen(
        [str(program), *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        user=user,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        try:
            yield Worker(process)
        finally:
            process.kill()


@pytest.fixture
def worker(worker_program: Path) -> Start:
    """Starts a process with a number of threads and a mode."""
    return lambda *words, user=None: started(worker_program, *words, user=user)


def clear(target: Worker) -> dict[str, object]:
    """Removes what a recording has left."""
    words = [str(native.program("attach")), "--clear", str(target.pid)]
    found = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)
    assert isinstance(found, dict)
    return found


@contextmanager
def recording(pid: int, trace: Path, *more: str) -> Iterator[dict[str, object]]:
    """Records the process meanwhile. The result is filled in at the end."""
    words = [str(native.program("attach")), "--trace", str(trace)]
    words += ["--library", str(native.library("attached")), *more, str(pid)]
    result: dict[str, object] = {}
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        first = process.stderr.readline()
        assert first == "recording\n", first
        yield result
        process.terminate()
        said, errors = process.communicate()
        assert process.returncode == 0, errors
    result.update(json.loads(said))
