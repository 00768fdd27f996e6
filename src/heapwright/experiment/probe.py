# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Tests the effect of a preload, with the loader and a small program.

There are three questions. Which file would the loader load? With LD_TRACE_LOADED_OBJECTS the loader
answers by its own rules (cache, LD_LIBRARY_PATH, the program's machine) and runs nothing. Which
library provides malloc to a program? `heapwright-probe` runs with the library and reports it. The
probe is a separate program. A library that fails only in the user's command is therefore still
measured and reported there. Which object would provide malloc to the user's own program? The loader
resolves its symbols, as before a start, and reports them (`bindings`). It runs nothing of it.
"""

import contextlib
import os
import re
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, JsonValue, TypeAdapter, ValidationError

from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.treatments import TUNABLES, merge_tunables

PROBE_SECONDS = 10.0
REFUSED = re.compile(
    r"ERROR: ld\.so: object '(?P<object>.*?)' from LD_PRELOAD (?P<words>cannot be preloaded .*?)"
    r"(: ignored)?\.?$",
    re.MULTILINE,
)
LOADER_DIED = re.compile(
    r"^\S+: ((?:error while loading shared libraries|symbol lookup error|relocation error): .*"
    r"|.*: version `.*' not found.*)$",
    re.MULTILINE,
)
BOUND = re.compile(
    r"binding file (?P<user>.+) \[\d+\] to (?P<provider>.+) \[\d+\]: \w+ symbol "
    r"`(?P<symbol>malloc|free|calloc|realloc)'"
)
RESOLVE_ONLY = {
    "LD_TRACE_LOADED_OBJECTS": "1",
    "LD_WARN": "1",
    "LD_BIND_NOW": "1",
    "LD_DEBUG": "bindings",
}
"""With these the loader resolves all symbols, reports each on standard error, and ends."""
LOADED = re.compile(r"^\t(?:(?P<name>\S.*) => )?(?P<path>/.*) \(0x[0-9a-f]+\)$", re.MULTILINE)


class ProbeReport(BaseModel):
    """The report of the small program about its malloc."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    malloc: str | None
    """Path of the object that provides its malloc."""
    provider_is_libc: bool
    consistent: bool
    """Whether free, calloc and realloc come from the same object."""
    works: bool
    glibc_version: str | None = None
    tcache: bool | None = None
    allocator_version: str | None = None
    description: str | None = None
    """The description of a heapwright library, as JSON."""

    def comes_from(self, library: Path) -> bool:
        """Whether its malloc is that of `library`, possibly by another path."""
        try:
            return self.malloc is not None and Path(self.malloc).samefile(library)
        except OSError:
            return False

    @property
    def described(self) -> dict[str, JsonValue]:
        """The parsed `description`; empty for a library of another project."""
        try:
            return DESCRIPTION.validate_json(self.description or "{}")
        except ValidationError:
            return {}


DESCRIPTION = TypeAdapter(dict[str, JsonValue])


@dataclass(frozen=True, slots=True)
class Probe:
    """One run of the small program: its report, if there is one, and how it ended."""

    report: ProbeReport | None
    ending: str
    words: str = ""
    """The loader's message, if it refused."""


@dataclass(frozen=True, slots=True)
class Bindings:
    """The loader's answer for a program and all libraries that it starts with."""

    providers: tuple[str, ...]
    """Objects that provide malloc, free, calloc or realloc to the program or to a library."""
    words: str = ""
    """The loader's message, if it refused the preloaded library."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """The loader's resolution of a name: a path, or the reason why there is none."""

    path: Path | None
    words: str = ""


class Prober:
    """Runs the small program in the environment that a command would have."""

    def __init__(
        self,
        program: Path,
        paths: PreloadPaths,
        environment: Mapping[str, str],
        limit_s: float = PROBE_SECONDS,
    ) -> None:
        self._program = program
        self._paths = paths
        self._environment = environment
        self._limit_s = limit_s

    def resolve(self, soname: str) -> Resolved:
        """Ask the loader which file it takes `soname` for; nothing of the file is run."""
        done = self._run(soname, {"LD_TRACE_LOADED_OBJECTS": "1"})
        for match in LOADED.finditer(done.stdout):
            if soname in (match["name"], match["path"]):
                return Resolved(Path(match["path"]))
        return Resolved(None, _refusal(done.stderr, soname) or "it is not loaded")

    def run(self, library: Path | None, settings: Mapping[str, str] | None = None) -> Probe:
        """Run the small program with `library` preloaded and the variables `settings` set."""
        text = None if library is None else self._paths.of(library)
        overlay = dict(settings or {})
        if TUNABLES in overlay:
            inherited = self._environment.get(TUNABLES, "")
            overlay[TUNABLES] = merge_tunables(inherited, overlay[TUNABLES])
        try:
            done = self._run(text, overlay)
        except subprocess.TimeoutExpired:
            return Probe(None, f"does not end within {self._limit_s:g} s")
        words = "" if text is None else _refusal(done.stderr, text)
        return Probe(_read_report(done.stdout), _ending(done), words)

    def bindings(self, library: Path | None) -> Bindings:
        """Ask the loader which objects would provide malloc and its kin, without running anything.

        Pre: the program is dynamic and its loader is that of the GNU C library. A static program
        would run.
        """
        text = None if library is None else self._paths.of(library)
        try:
            done = self._run(text, RESOLVE_ONLY)
        except subprocess.TimeoutExpired:
            return Bindings((), f"the loader does not end within {self._limit_s:g} s")
        words = "" if text is None else _refusal(done.stderr, text)
        return Bindings(_providers(done.stderr, os.fspath(self._program)), words)

    def _run(self, preload: str | None, overlay: Mapping[str, str]) -> "_Done":
        environment = {**self._environment, **overlay}
        environment.pop("LD_DEBUG_OUTPUT", None)  # it moves what the loader reports to a file
        if preload is not None:
            own = environment.get("LD_PRELOAD", "")
            environment["LD_PRELOAD"] = f"{preload}:{own}" if own else preload
        with subprocess.Popen(
            [self._program],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env=environment,
            process_group=0,
        ) as process:
            try:
                stdout, stderr = process.communicate(timeout=self._limit_s)
            except BaseException:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                raise
        return _Done(process.returncode, stdout, stderr)


@dataclass(frozen=True, slots=True)
class _Done:
    status: int
    stdout: str
    stderr: str


def _providers(text: str, program: str) -> tuple[str, ...]:
    """The final objects of all bindings in the loader's report.

    A program at a fixed address that takes the address of malloc has an entry for it. All others
    are then bound to this entry, and it leads to the object that the program itself is bound to.
    An object that is bound to itself has a private malloc, unless others are bound to it, too. The
    C library is bound to itself if nothing replaces its malloc.
    """
    bound = {(each["symbol"], each["user"], each["provider"]) for each in BOUND.finditer(text)}
    onward = {symbol: to for symbol, user, to in bound if user == program != to}
    last = {
        onward.get(symbol, provider) if provider == program else provider
        for symbol, user, provider in bound
        if user != provider or is_libc(provider)
    }
    return tuple(sorted(last))


def is_libc(provider: str) -> bool:
    """Whether an object is the GNU C library, by its name."""
    return Path(provider).name.startswith("libc.so.")


def _read_report(text: str) -> ProbeReport | None:
    """The report is the last line: a library may have printed something before."""
    try:
        return ProbeReport.model_validate_json(text.rstrip().rpartition("\n")[2])
    except ValidationError:
        return None


def _refusal(stderr: str, preload: str) -> str:
    """The loader's words, if it refused the library or ended the program because of it."""
    for match in REFUSED.finditer(stderr):
        if match["object"] == preload:
            return match["words"]
    died = LOADER_DIED.search(stderr)
    return died[1] if died else ""


def _ending(done: _Done) -> str:
    """How the small program ended, as the end of a sentence, with the end of its output."""
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    said = f": {lines[-1]}" if lines else ""
    if done.status < 0:
        return f"is killed by {signal.Signals(-done.status).name}{said}"
    if done.status > 0:
        return f"exits with status {done.status}{said}"
    return f"says nothing that can be read{said}"
