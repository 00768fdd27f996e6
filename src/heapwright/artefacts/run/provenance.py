# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Where a result comes from: the machine, the system, the libraries, the tool.

A figure without these can neither be repeated nor doubted properly, so they are written into every
result. What a machine does not tell (a governor in a virtual machine, say) is empty, never guessed.
"""

import hashlib
import os
import platform
import re
import shutil
import subprocess
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, ConfigDict, JsonValue

from heapwright import __version__


class Kind(StrEnum):
    """What an allocator is to this project."""

    COMPOSED = "composed"
    SYSTEM = "system"
    PEER = "peer"
    FILE = "file"


class Allocator(BaseModel):
    """An allocator on this machine, and what a probe says about it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    kind: Kind
    caption: str = ""
    version: str = ""
    path: str | None = None
    """The library that is preloaded; none for the C library's own."""
    sha256: str = ""
    environment: dict[str, str] = {}
    """What is set for it besides the preload."""
    usable: bool = True
    """It loads and defines malloc. It can be compared, even if it fails later."""
    effective: bool = True
    """A probe was seen to take its memory from it."""
    reason: str = ""
    """Why it is not usable or not effective, with the loader's words where it has any; or what else
    should be known of it."""
    composition: JsonValue = None
    """The tree of its layers, for a shipped allocator."""


def by_reason(allocators: Iterable[Allocator]) -> list[tuple[list[str], str]]:
    """The names that have a reason in common, and the reason."""
    names: dict[str, list[str]] = {}
    for allocator in allocators:
        names.setdefault(allocator.reason, []).append(allocator.name)
    return [(each, reason) for reason, each in names.items()]


class Environment(BaseModel):
    """The machine and the system that a result was measured on."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    host: str
    kernel: str
    distribution: str
    cpu: str
    cpus: int
    """Processors that this process may use."""
    memory_bytes: int
    governor: str
    """The frequency governor of the processors; empty if the machine does not tell."""
    libc: str
    heapwright: str
    python: str
    date: str
    """When the measurement began, UTC, ISO 8601."""
    clock: str
    """The kernel's clock source."""
    settings: dict[str, str] = {}
    """Variables of the user's own environment that allocators or the loader listen to."""
    allocators: list[Allocator] = []


LISTENED = (
    "LD_",
    "GLIBC_TUNABLES",
    "MALLOC_",
    "JE_",
    "TCMALLOC_",
    "MIMALLOC_",
    "SCUDO_",
    "TBB_MALLOC_",
    "HARDENED_MALLOC_",
    "PYTHONMALLOC",
)
"""How the variables begin that the loader, the allocators and CPython's own allocator listen to."""
MALLOC_CONFIGURATION = re.compile(r"[A-Z0-9][A-Z0-9_]*MALLOC_CONF")
"""jemalloc's variable; a build with a prefix for its functions has the prefix here, too. That of
Rust's builds begins with `_`: Polars sets it in this process, so it says nothing of the user."""


def inherited_settings(environment: dict[str, str]) -> dict[str, str]:
    """What of the user's environment bears on allocators."""
    return {
        name: value
        for name, value in sorted(environment.items())
        if name.startswith(LISTENED) or MALLOC_CONFIGURATION.fullmatch(name)
    }


def read_environment(allocators: list[Allocator], environment: dict[str, str]) -> Environment:
    """Look at this machine now."""
    return Environment(
        host=platform.node(),
        kernel=f"{platform.system()} {platform.release()} {platform.machine()}",
        distribution=_distribution(),
        cpu=_cpu_model(),
        cpus=len(os.sched_getaffinity(0)),
        memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        governor=_read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        libc=_libc(),
        heapwright=__version__,
        python=platform.python_version(),
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        clock=_read("/sys/devices/system/clocksource/clocksource0/current_clocksource")
        or time.get_clock_info("monotonic").implementation,
        settings=inherited_settings(environment),
        allocators=allocators,
    )


def sha256_of(path: Path) -> str:
    """The hash of a library's bytes; empty if it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def package_version(path: Path) -> str:
    """Package and version that the distribution's own tools give for a file; empty if none do."""
    real = os.path.realpath(path)
    if shutil.which("dpkg-query"):
        for candidate in dict.fromkeys((real, real.removeprefix("/usr"), str(path))):
            owner = _output(["dpkg-query", "--search", candidate])
            package = owner.partition(": ")[0].split(",")[0]
            if package and not package.startswith("diversion"):
                version = _output(["dpkg-query", "-W", "-f=${Version}", package])
                return f"{package.partition(':')[0]} {version}".strip()
    elif shutil.which("rpm"):
        return _output(["rpm", "-qf", "--qf", "%{NAME} %{VERSION}-%{RELEASE}", real])
    return ""


def _output(command: list[str]) -> str:
    """The first line that a tool of the system prints; empty if it fails."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=30,
            check=False,
            env={**os.environ, "LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    lines = done.stdout.splitlines()
    return lines[0].strip() if done.returncode == 0 and lines else ""


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _cpu_model() -> str:
    for line in _read("/proc/cpuinfo").splitlines():
        key, _, value = line.partition(":")
        if key.strip() in ("model name", "Model", "cpu model"):
            return value.strip()
    return platform.processor() or platform.machine()


def _distribution() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:
        return ""


def _libc() -> str:
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (ValueError, OSError):
        return ""
