# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The user's C++ compiler: which it is, whether it is one, and what it says about a text.

It has three uses: to check whether a text is valid, to find which of its numbered assertions fail,
and to build. Compilers report all failed assertions, so one call answers many questions.
"""

import os
import re
import shlex
import shutil
import signal
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.compose.processes import Finished, Processes, run

CANDIDATES = ("c++", "g++", "clang++")
CHECK = """
#include <concepts>
#include <version>
#if !defined(__cpp_concepts) || __cpp_concepts < 201907L
#error no C++20
#endif
template <class T> concept Sized = requires(T t) { sizeof t; };
consteval int one() { return 1; }
static_assert(Sized<int> && one() == 1);
"""
MARK = "heapwright-question-"
SHORT_LIMIT_S = 120.0
LONG_LIMIT_S = 600.0
ERROR = re.compile(
    r"^(?P<file>[^\s:][^:\n]*):(?P<line>\d+):(?:\d+:)?\s*(?:fatal )?error:\s*(?P<text>.*)$",
    re.MULTILINE,
)
FULL = re.compile(r"No space left on device|Disk quota exceeded", re.IGNORECASE)
KILLED = re.compile(
    r"Killed signal terminated program|unable to execute command: Killed"
    r"|terminated with signal 9|out of memory allocating|virtual memory exhausted"
)


@dataclass(frozen=True, slots=True)
class Complaint:
    """A thing that a compiler finds wrong."""

    file: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of compiling a text."""

    valid: bool
    pages: str
    """All that the compiler printed."""

    @property
    def failed(self) -> frozenset[str]:
        """The numbered assertions that do not hold."""
        return frozenset(re.findall(rf"error:.*{MARK}([\w.]+)", self.pages))

    @property
    def only_assertions(self) -> bool:
        """Whether nothing else is wrong, so that the answers can be believed."""
        return all(MARK in match["text"] for match in ERROR.finditer(self.pages)) and (
            self.valid or bool(self.failed)
        )

    @property
    def complaint(self) -> Complaint | None:
        return next(self._complaints(), None)

    def complaint_in(self, files: Collection[Path]) -> Complaint | None:
        """The first error in one of these files. A compiler may complain of other files before."""
        names = set(map(str, files))
        return next((each for each in self._complaints() if each.file in names), None)

    def _complaints(self) -> Iterator[Complaint]:
        for match in ERROR.finditer(self.pages):
            yield Complaint(match["file"], int(match["line"]), match["text"])


class Compiler:
    """A compiler that was seen to compile C++20."""

    def __init__(self, words: Sequence[str], folder: Path, include: Sequence[Path] = ()) -> None:
        """`folder` is for what it reads and writes."""
        self._words = tuple(words)
        self.folder = folder
        self.include = tuple(include)
        self.processes = Processes()
        """Its own ones; their `end` ends the builds of all threads."""

    @property
    def name(self) -> str:
        return shlex.join(self._words)

    @cached_property
    def version(self) -> str:
        """The first line that it says of itself."""
        lines = self._run(["--version"]).stdout.splitlines()
        return lines[0].strip() if lines else ""

    def check(self) -> None:
        """Raise HeapwrightError unless it is a compiler for C++20."""
        made = self.folder / "check.o"
        source = self._written("check.cpp", CHECK)
        done = self._run(["-std=c++20", "-c", source, "-o", made])
        if done.status == 0 and made.is_file():
            return
        refuse_if_full(done.stderr)
        if "no C++20" in done.stderr or "std=c++20" in done.stderr:
            raise HeapwrightError(
                f"the compiler {self.name} is too old: it does not know C++20",
                "g++ 11 and clang++ 14 do; name another with --compiler",
            )
        said = done.stderr.strip().splitlines()
        raise HeapwrightError(
            f"{self.name} does not compile C++{f': {said[0]}' if said else ''}",
            "name another compiler with --compiler",
        )

    def ask(self, text: str) -> Answer:
        """Compile a text without making anything of it."""
        source = self._written("question.cpp", text)
        every = ["-fmax-errors=0"] if self._is_gcc() else ["-ferror-limit=0"]
        flags = ["-std=c++20", "-fsyntax-only", "-w", "-fno-diagnostics-color", *every]
        done = self._run([*flags, *self._includes(), source])
        refuse_if_full(done.stderr)
        return Answer(done.status == 0, done.stderr)

    def build(self, arguments: Sequence[str | Path], limit_s: float = LONG_LIMIT_S) -> Answer:
        """Compile and link something."""
        done = self._run(["-fno-diagnostics-color", *self._includes(), *arguments], limit_s)
        refuse_if_full(done.stderr)
        return Answer(done.status == 0, done.stderr)

    def output_of(self, text: str, limit_s: float = 10.0) -> str:
        """What a small program prints; empty if it does not compile or does not end well."""
        source = self._written("program.cpp", text)
        program = self.folder / "program"
        program.unlink(missing_ok=True)
        if not self.build(["-std=c++20", "-w", source, "-o", program], SHORT_LIMIT_S).valid:
            return ""
        try:
            done = run([program], limit_s)
        except OSError:
            return ""
        return done.stdout if done.status == 0 else ""

    def _is_gcc(self) -> bool:
        return "clang" not in self.version.lower()

    def _includes(self) -> list[str]:
        return [f"-I{folder}" for folder in self.include]

    def _written(self, name: str, text: str) -> Path:
        path = self.folder / name
        write(path, text)
        return path

    def _run(self, arguments: Sequence[str | Path], limit_s: float = SHORT_LIMIT_S) -> Finished:
        environment = {**os.environ, "LC_ALL": "C", "TMPDIR": os.fspath(self.folder)}
        try:
            done = self.processes.run([*self._words, *arguments], limit_s, environment)
        except OSError as error:
            raise HeapwrightError(
                f"the compiler {self.name} cannot be run: {error.strerror or error}",
                "name another with --compiler",
            ) from error
        if done.status is None:
            raise HeapwrightError(f"the compiler {self.name} does not end within {limit_s:g} s")
        if done.status == -signal.SIGKILL or KILLED.search(done.stderr):
            raise HeapwrightError(
                f"the compiler {self.name} was killed, or got no memory",
                "`free -m` shows the memory; end other programs, and try again",
            )
        return done


def find_compiler(named: str | None, environment: Mapping[str, str], folder: Path) -> Compiler:
    """The compiler that is named, or that CXX names, or the first that is there."""
    asked, by = (named, "--compiler") if named else (environment.get("CXX", ""), "CXX")
    if asked:
        try:
            words = shlex.split(asked)
        except ValueError as error:
            raise HeapwrightError(f"{by} {asked!r} cannot be read: {error}") from error
        if not words or shutil.which(words[0]) is None:
            raise HeapwrightError(
                f"there is no compiler {asked!r} ({by})",
                f"apt-get install g++, or name another: {', '.join(CANDIDATES)}",
            )
    else:
        words = [name for name in CANDIDATES if shutil.which(name)][:1]
        if not words:
            raise HeapwrightError(
                f"there is no C++ compiler: none of {', '.join(CANDIDATES)}",
                "apt-get install g++, or name one with --compiler",
            )
    compiler = Compiler(words, folder)
    compiler.check()
    return compiler


def refuse_if_full(pages: str) -> None:
    """Raise HeapwrightError if a tool ran out of space."""
    if full := FULL.search(pages):
        raise HeapwrightError(
            f"the compiler cannot write: {full[0]}",
            "`df` shows which disk is full; TMPDIR names another folder for temporary files",
            exit_code=ExitCode.NOT_WRITTEN,
        )


def not_written(path: Path, error: OSError) -> HeapwrightError:
    return HeapwrightError(
        f"{path} cannot be written: {error.strerror or error}", exit_code=ExitCode.NOT_WRITTEN
    )


def write(path: Path, text: str) -> None:
    """Write a generated file. Raises HeapwrightError."""
    try:
        path.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise not_written(path, error) from error
