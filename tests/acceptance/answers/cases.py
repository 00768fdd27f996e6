# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The programs of `cases/`: what each one's memory is in truth, and how to start it."""

import os
import shutil
import subprocess
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from threading import get_ident
from typing import Any

from heapwright.base import native

FOLDER = Path(__file__).parent
PROGRAMS = FOLDER / "programs"
SHARED = ("program", "flags", "before", "environment")
"""What a group says for all of its cases."""
LIBRARIES = Path("/usr/lib/x86_64-linux-gnu")
PEERS = {
    "jemalloc": ("libjemalloc.so.2", "libjemalloc2"),
    "tcmalloc": ("libtcmalloc_minimal.so.4", "libtcmalloc-minimal4"),
    "mimalloc": ("libmimalloc.so.2.0", "libmimalloc2.0"),
}
COMPILERS = {
    ".c": ("gcc", "gcc", ("-O1", "-g", "-pthread")),
    ".cpp": ("g++", "g++", ("-std=c++20", "-O1", "-g", "-pthread")),
    ".rs": ("rustc", "rustc", ("-g", "-C", "opt-level=1")),
}
"""The program, its package and its options."""
INTERPRETERS = {
    ".py": ("/usr/bin/python3", "python3"),
    ".pl": ("/usr/bin/perl", "perl"),
    ".js": ("node", "nodejs"),
}


class MissingError(Exception):
    """A program or library that a case needs is not there; the text names its package."""


@dataclass(frozen=True, slots=True)
class Case:
    """One program, and the truth about its memory."""

    name: str
    program: str
    arguments: tuple[str, ...]
    what: str
    truth: frozenset[str]
    also: frozenset[str] = frozenset()
    culprit: Mapping[str, str] = field(default_factory=dict)
    rate: Mapping[str, float] = field(default_factory=dict)
    setting: str | None = None
    """The variables that make the allocator return memory, with their values if only those help;
    empty: none does; None: not judged."""
    blind: bool = False
    quick: bool = False
    unlike_memcheck: str = ""
    """Why Memcheck reports blocks as lost that are not lost during the run."""
    allocator: str = "glibc"
    flags: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def language(self) -> str:
        return Path(self.program).suffix


def read_cases(folder: Path = FOLDER / "cases") -> tuple[Case, ...]:
    """All cases, in the order of the files."""
    groups: dict[str, dict[str, Any]] = {}
    for path in sorted(folder.glob("*.toml")):
        groups |= tomllib.loads(path.read_text("utf-8"))
    return tuple(
        _case(group, name, {**{k: entries[k] for k in SHARED if k in entries}, **entry})
        for group, entries in groups.items()
        for name, entry in entries.items()
        if name not in SHARED
    )


def _case(group: str, name: str, entry: dict[str, Any]) -> Case:
    fields: dict[str, Any] = {
        **{key: tuple(entry.pop(key, ())) for key in ("flags", "before")},
        **{key: frozenset(entry.pop(key, ())) for key in ("truth", "also")},
        "arguments": tuple(entry.pop("arguments", name.split())),
    }
    return Case(name=f"{group} {name}", **fields, **entry)


class Builder:
    """Compiles each program once, into a folder. Several processes may share the folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made: dict[tuple[str, tuple[str, ...]], str] = {}

    def command(self, case: Case) -> list[str]:
        """The words that start the case. Raises MissingError."""
        source = PROGRAMS / case.program
        if case.language in INTERPRETERS:
            words = [_found(*INTERPRETERS[case.language]), str(source)]
        else:
            words = [self._compiled(source, case.flags)]
        return [*case.before, *words, *case.arguments]

    def _compiled(self, source: Path, flags: tuple[str, ...]) -> str:
        key = (source.name, flags)
        if key not in self._made:
            compiler, package, options = COMPILERS[source.suffix]
            target = self._folder / f"{source.name}{''.join(flags)}.run"
            words = [_found(compiler, package), *options, *flags, str(source), "-o"]
            if not target.exists():
                made = target.with_name(f"{target.name}-{os.getpid()}-{get_ident()}")
                subprocess.run([*words, str(made)], check=True)
                made.rename(target)
            self._made[key] = str(target)
        return self._made[key]

    @cached_property
    def _granary(self) -> Path:
        return native.library("granary")

    def environment(self, case: Case) -> dict[str, str]:
        """The variables that the case sets. Raises MissingError."""
        if case.allocator == "glibc":
            return dict(case.environment)
        if case.allocator == "granary":
            return {**case.environment, "LD_PRELOAD": str(self._granary)}
        file, package = PEERS[case.allocator]
        library = LIBRARIES / file
        if not library.exists():
            raise MissingError(f"{library} is not there (package {package})")
        return {**case.environment, "LD_PRELOAD": str(library)}


def _found(program: str, package: str) -> str:
    path = shutil.which(program)
    if path is None:
        raise MissingError(f"{program} is not installed (package {package})")
    return path
