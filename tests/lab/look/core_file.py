# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Writes a core file of a process as the kernel does, from outside. The process must not change."""

import struct
import time
from pathlib import Path

PAGE = 4096
PT_LOAD, PT_NOTE = 1, 4
NT_FILE = 0x46494C45
NT_PRSTATUS = 1
STATUS_BYTES = 336
REGISTERS_AT = 112
STACK_POINTER = 19


def write_core(pid: int, path: Path) -> None:
    """All private memory that is readable, the names of mapped files, and the stack pointer."""
    mappings = [line.split(maxsplit=5) for line in _lines(pid, "maps")]
    parts = []
    files = []
    for range_, rights, offset, _, _, *name in mappings:
        begin, end = (int(each, 16) for each in range_.split("-"))
        named = name[0] if name else ""
        if named in {"[vvar]", "[vsyscall]", "[vvar_vclock]"}:
            continue
        if named.startswith("/"):
            files.append((begin, end, int(offset, 16) // PAGE, named.encode()))
        kept = end - begin if "w" in rights else 0
        flags = sum(bit for letter, bit in zip("rwx", (4, 2, 1), strict=True) if letter in rights)
        parts.append((begin, end - begin, kept, flags))
    notes = _note(b"CORE", NT_PRSTATUS, _status(pid)) + _note(b"CORE", NT_FILE, _files(files))
    head_bytes = 64 + 56 * (len(parts) + 1)
    at = -(-(head_bytes + len(notes)) // PAGE) * PAGE
    table = struct.pack("<IIQQQQQQ", PT_NOTE, 0, head_bytes, 0, 0, len(notes), 0, 4)
    for begin, size, kept, flags in parts:
        table += struct.pack("<IIQQQQQQ", PT_LOAD, flags, at, begin, 0, kept, size, PAGE)
        at += kept
    ident = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    head = ident + struct.pack(
        "<HHIQQQIHHHHHH", 4, 62, 1, 0, 64, 0, 0, 64, 56, len(parts) + 1, 0, 0, 0
    )
    with path.open("wb") as core, Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
        core.write(
            (head + table + notes).ljust(-(-(head_bytes + len(notes)) // PAGE) * PAGE, b"\0")
        )
        for begin, _, kept, _ in parts:
            memory.seek(begin)
            core.write(memory.read(kept) if kept else b"")


def _lines(pid: int, name: str) -> list[str]:
    return Path(f"/proc/{pid}/{name}").read_text(encoding="utf-8").splitlines()


def _note(name: bytes, kind: int, content: bytes) -> bytes:
    padded = content.ljust(-(-len(content) // 4) * 4, b"\0")
    return struct.pack("<III", len(name) + 1, len(content), kind) + name.ljust(8, b"\0") + padded


def _status(pid: int) -> bytes:
    """prstatus with the number and the stack pointer."""
    while len(words := _lines(pid, "syscall")[0].split()) < 3:
        time.sleep(0.001)  # it runs, until it waits for input
    status = bytearray(STATUS_BYTES)
    struct.pack_into("<i", status, 32, pid)
    struct.pack_into("<Q", status, REGISTERS_AT + 8 * STACK_POINTER, int(words[-2], 16))
    return bytes(status)


def _files(files: list[tuple[int, int, int, bytes]]) -> bytes:
    content = struct.pack("<QQ", len(files), PAGE)
    for begin, end, offset, _ in files:
        content += struct.pack("<QQQ", begin, end, offset)
    return content + b"".join(name + b"\0" for *_, name in files)
