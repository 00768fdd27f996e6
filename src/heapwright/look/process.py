# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What each user may read of a process, and which right is missing to read its memory.

The kernel decides. A process may read another one's memory if both have the same user. The other
one must not have forbidden to be traced, and Yama and the container must permit it. SYS_PTRACE
overrides all of these except Yama's scope 3.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from heapwright.base.errors import HeapwrightError

PROC = Path("/proc")
YAMA = "sys/kernel/yama/ptrace_scope"
SYS_PTRACE = 19
"""The number of the capability."""
ELF_CLASS = 4
CLASS_32 = 1


@dataclass(frozen=True, slots=True)
class Process:
    """The figures of /proc/PID/status."""

    pid: int
    name: str
    state: str
    threads: int
    users: tuple[int, ...]
    """Real, effective, saved and of files."""
    resident: int
    anonymous: int
    files: int
    shared: int
    swapped: int
    tracer: int = 0
    """The process that traces it; 0 if there is none."""

    @property
    def has_ended(self) -> bool:
        return self.state in {"Z", "X"}


def read_process(pid: int, proc: Path = PROC) -> Process:
    """The figures of a process. Raises HeapwrightError if there is none."""
    try:
        text = (proc / str(pid) / "status").read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise gone(pid) from error
    table = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
    found = Process(
        pid=pid,
        name=table.get("Name", "").strip(),
        state=table.get("State", "").strip()[:1],
        threads=_number(table, "Threads"),
        users=tuple(int(word) for word in table.get("Uid", "").split()),
        resident=_number(table, "VmRSS") * 1024,
        anonymous=_number(table, "RssAnon") * 1024,
        files=_number(table, "RssFile") * 1024,
        shared=_number(table, "RssShmem") * 1024,
        swapped=_number(table, "VmSwap") * 1024,
        tracer=_number(table, "TracerPid"),
    )
    if found.has_ended:
        raise HeapwrightError(
            f"process {pid} ({found.name}) has ended, and its parent has not collected its status",
            "its memory is gone",
        )
    if "VmRSS" not in table:
        raise HeapwrightError(
            f"process {pid} ({found.name}) is a kernel thread, which has no memory of its own"
        )
    return found


def gone(pid: int, when: str = "") -> HeapwrightError:
    """The error of a process that does not exist."""
    if when:
        return HeapwrightError(f"process {pid} {when}", "name a process that stays")
    return HeapwrightError(
        f"there is no process {pid}",
        "in a container use the number that ps shows there",
    )


def is_32_bit(pid: int, proc: Path = PROC) -> bool:
    """Whether the program of a process is one for 32 bits; False if it is not readable."""
    try:
        with (proc / str(pid) / "exe").open("rb") as file:
            return file.read(5)[ELF_CLASS:] == bytes([CLASS_32])
    except OSError:
        return False


def program_of(pid: int, proc: Path = PROC) -> str:
    """The path of the program of a process; empty if it is not readable."""
    try:
        return str((proc / str(pid) / "exe").readlink())
    except OSError:
        return ""


def environment_of(pid: int, proc: Path = PROC) -> dict[str, str]:
    """The environment with which a process began; empty if it is not readable."""
    try:
        words = (proc / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return {}
    pairs = (os.fsdecode(word).partition("=") for word in words if b"=" in word)
    return {name: value for name, _, value in pairs}


def missing_right(
    process: Process, proc: Path = PROC, user: int | None = None, verb: str = "look"
) -> tuple[str, str]:
    """Why its memory cannot be read, and what to do."""
    own = os.geteuid() if user is None else user
    scope = _text(proc / YAMA)
    sudo = f"sudo heapwright {verb} {process.pid}"
    container = "in a container, start it with --cap-add=SYS_PTRACE"
    if scope == "3":
        return (
            "the kernel forbids every process to read another one's memory "
            "(kernel.yama.ptrace_scope is 3)",
            "only a restart with another value changes this; look at a core file instead: "
            "heapwright look CORE",
        )
    if has_right(proc):
        return (
            "the kernel refused (a security module, or another user namespace?), although this "
            "process has SYS_PTRACE",
            "run the command on the host, or look at a core file: heapwright look CORE",
        )
    if own == 0:
        return (
            "root lacks the right SYS_PTRACE here, or the process is in another user namespace",
            f"{container}, or run the command on the host",
        )
    if process.users and set(process.users[:3]) != {own}:
        return (
            f"it belongs to user {process.users[0]}, and this is user {own}",
            f"run it as that user, or: {sudo}",
        )
    return _forbidden(scope, sudo, container)


def _forbidden(scope: str, sudo: str, container: str) -> tuple[str, str]:
    """Why a process of the same user cannot be read."""
    if scope == "2":
        return (
            "only processes with the right SYS_PTRACE may read another one's memory "
            "(kernel.yama.ptrace_scope is 2)",
            f"{sudo}; {container}",
        )
    if scope == "1":
        return (
            "only its parent may read its memory (kernel.yama.ptrace_scope is 1)",
            f"{sudo}; or, until the next restart: sudo sysctl kernel.yama.ptrace_scope=0",
        )
    return (
        "the process has more rights than this one, or forbids to be traced (PR_SET_DUMPABLE)",
        f"{sudo}; {container}",
    )


def other_tracer(process: Process, proc: Path = PROC) -> tuple[str, str] | None:
    """Why it cannot be stopped, and what to do, if another process traces it already."""
    if not process.tracer:
        return None
    name = _text(proc / str(process.tracer) / "comm")
    return (
        f"process {process.pid} is already traced by process {process.tracer}"
        + (f" ({name})" if name else ""),
        f"look without --pause: heapwright look {process.pid}; or end the other trace",
    )


def has_right(proc: Path = PROC) -> bool:
    """Whether this process has the capability SYS_PTRACE."""
    for line in _text(proc / "self/status").splitlines():
        name, _, value = line.partition(":")
        if name == "CapEff":
            return bool(int(value, 16) >> SYS_PTRACE & 1)
    return False


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _number(table: Mapping[str, str], name: str) -> int:
    word = table.get(name, "0").split()
    return int(word[0]) if word and word[0].isdigit() else 0
