# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Small programs under the recorder, and what their traces say."""

import json
import os
import resource
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from heapwright.artefacts.trace.file import TraceInfo, check_trace, trace_info
from heapwright.artefacts.trace.frame import open_trace
from heapwright.base import native
from support.running import ran

SOURCES = Path(__file__).parent / "programs"
FOREIGN = ("LD_", "GLIBC_", "MALLOC_", "HEAPWRIGHT_TRACE", "HEAPWRIGHT_TOGGLE")
TIMEOUT_S = 60


@dataclass(frozen=True, slots=True)
class Recorded:
    """One recording: what the launcher said, what the command printed, and the trace."""

    path: Path
    said: dict[str, Any]
    out: str
    err: str

    @property
    def info(self) -> TraceInfo:
        return trace_info(self.path)

    def events(self, process: int | None = None) -> pl.DataFrame:
        return open_trace(self.path, process).collect()

    def counts(self, process: int | None = None) -> Counter[str]:
        return Counter(self.events(process)["routine"].cast(pl.String).to_list())

    def of_size(self, size: int) -> pl.DataFrame:
        return self.events().filter(pl.col("size") == size)

    def live(self) -> dict[int, int]:
        """Sizes by address of what was never freed; fails where two live blocks are one."""
        live: dict[int, int] = {}
        for event in self.events().iter_rows(named=True):
            if event["old"] and (event["address"] or not event["size"]):
                live.pop(event["old"], None)
            if event["routine"].startswith(("free", "delete", "cfree")):
                live.pop(event["address"], None)
            elif event["address"]:
                assert event["address"] not in live, event
                live[event["address"]] = event["size"]
        return live


@dataclass
class Bench:
    """Builds programs into one folder and records them there."""

    folder: Path
    built: dict[tuple[str, ...], Path] = field(default_factory=dict)
    runs: int = 0

    def program(self, source: str, *flags: str) -> Path:
        """The program from `programs/SOURCE`."""
        key = (source, *flags)
        if key not in self.built:
            name = "c++" if source.endswith(".cpp") else "cc"
            compiler = shutil.which(name)
            if compiler is None:
                pytest.skip(f"needs a compiler ({name}, package g++)")
            output = self.folder / f"{Path(source).stem}-{len(self.built)}"
            words = [compiler, "-O1", "-fno-builtin", str(SOURCES / source), "-o", str(output)]
            done = ran([*words, "-pthread", *flags])
            if done.returncode and flags:
                pytest.skip(f"cannot build with {' '.join(flags)}: {done.stderr.strip()[:200]}")
            assert done.returncode == 0, done.stderr
            self.built[key] = output
        return self.built[key]

    def path(self) -> Path:
        self.runs += 1
        return self.folder / f"{self.runs}.trace"

    def words(self, path: Path, *options: str, behind: Sequence[Path] = ()) -> list[str]:
        """The launcher's command line, up to the command."""
        preload = ":".join(map(str, (native.library("recorder"), *behind)))
        program = str(native.program("record"))
        return [program, "--trace", str(path), "--preload", preload, *options, "--"]

    def record(
        self,
        command: Sequence[str | Path],
        *options: str,
        behind: Sequence[Path] = (),
        path: Path | None = None,
        prepare: Callable[[], None] | None = None,
    ) -> Recorded:
        """Record to the end, for any end."""
        path = path or self.path()
        reading, writing = os.pipe()
        words = self.words(
            path, "--no-system", "--result-fd", str(writing), *options, behind=behind
        )
        with os.fdopen(reading, "rb") as report:
            try:
                done = ran(
                    [*words, *map(str, command)],
                    pass_fds=[writing],
                    env=environment(),
                    timeout=TIMEOUT_S,
                    preexec_fn=prepare,
                )
            finally:
                os.close(writing)
            said = json.loads(report.read() or b"null")
        assert done.returncode == 0, done.stderr
        return Recorded(path, said, done.stdout, done.stderr)

    def sound(self, recorded: Recorded) -> None:
        """All of it can be decoded, and nothing in it is damaged."""
        found = check_trace(recorded.path)
        assert found.fault_count == 0, found.faults
        assert found.events == recorded.said["events"] == recorded.info.events


def environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}


def limit_files(size: int) -> Callable[[], None]:
    """Before the launcher starts: no file may become larger, as on a full disk."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
