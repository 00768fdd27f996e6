# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The machine as the checks see it: files below a root, and a few answers of the system.

Checks are functions of this and of nothing else, so a test can show them any machine. What cannot
be read is "" or None: files in /sys differ between kernels, processors and containers.
"""

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from heapwright.artefacts.checkup.document import Check, Finding
from heapwright.artefacts.run.provenance import Allocator


def free_bytes(folder: Path) -> int | None:
    """What a user may still write there, in the nearest folder that exists."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return None


@dataclass(frozen=True, slots=True)
class Machine:
    """One machine, now."""

    root: Path = Path("/")
    cpus: frozenset[int] = field(default_factory=lambda: frozenset(os.sched_getaffinity(0)))
    """Processors that this process may use."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """The user's own variables that allocators and the loader listen to."""
    find: Callable[[str], str | None] = shutil.which
    free: Callable[[Path], int | None] = free_bytes
    folders: tuple[Path, ...] = ()
    """Where results and temporary files go."""
    counters: frozenset[str] | None = None
    """The hardware counters that a run was seen to have; None: no run was made."""
    ptrace_error: int | None = None
    """Of tracing an own child; 0: permitted; None: not tried."""
    perf_error: int | None = None
    """Of opening an event of software, as above."""
    allocators: tuple[Allocator, ...] = ()
    earlier_stat: str = ""
    """/proc/stat a while ago; "": only what was since the start of the system is known."""

    def text(self, path: str) -> str:
        """The file, without white space around it; "" if it cannot be read."""
        try:
            return (self.root / path).read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            return ""

    def number(self, path: str) -> int | None:
        text = self.text(path)
        return int(text) if text.lstrip("-").isdigit() else None

    def texts(self, pattern: str) -> list[str]:
        """The files that a pattern matches, as far as they can be read, in order of their names."""
        paths = sorted(self.root.glob(pattern))
        texts = (self.text(str(path.relative_to(self.root))) for path in paths)
        return [text for text in texts if text]

    def table(self, path: str) -> dict[str, str]:
        """A file of lines such as `Name:  value`."""
        pairs = (line.partition(":") for line in self.text(path).splitlines())
        return {name.strip(): value.strip() for name, _, value in pairs}


def good(name: str, says: str) -> Check:
    return Check(name=name, finding=Finding.GOOD, says=says)


def unknown(name: str, says: str) -> Check:
    return Check(name=name, finding=Finding.UNKNOWN, says=says)


def note(name: str, says: str, advice: str = "") -> Check:
    return Check(name=name, finding=Finding.NOTE, says=says, advice=advice)


def warning(name: str, says: str, advice: str) -> Check:
    return Check(name=name, finding=Finding.WARNING, says=says, advice=advice)


def bad(name: str, says: str, advice: str) -> Check:
    return Check(name=name, finding=Finding.BAD, says=says, advice=advice)
