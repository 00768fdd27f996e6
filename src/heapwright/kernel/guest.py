# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The guest's first files: heapwright's init, linked statically, and the programs of a load.

The init is compiled once for each state of its source and compiler and kept in the cache.
"""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.kernel.archive import Entry, character, compressed, cpio, folder, regular
from heapwright.kernel.compilation import compiled_sources, compiler_programs
from heapwright.kernel.folders import guest_sources
from heapwright.kernel.libraries import find_program, with_libraries

FLAGS = ("-std=gnu11", "-D_GNU_SOURCE", "-O2", "-static", "-Wl,--build-id=none")
COMPILER = "gcc"


def compiled_init(cache: Path) -> Path:
    """The init, compiled where it is not yet. Raises HeapwrightError."""
    sources = sorted(guest_sources().glob("*.c"))
    headers = sorted(guest_sources().glob("*.h"))
    compiler = find_program(COMPILER, "gcc libc6-dev")
    digest = hashlib.sha256(_version_of(compiler))
    for path in (*sources, *headers):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    place = cache / "init" / digest.hexdigest()[:16]
    if not place.is_file():
        _compile(compiler, sources, place)
    return place


def _version_of(compiler: Path) -> bytes:
    done = subprocess.run([compiler, "--version"], capture_output=True, check=False)
    return " ".join(FLAGS).encode() + done.stdout


def _compile(compiler: Path, sources: list[Path], place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    partial = place.with_name(f".{place.name}-{os.getpid()}")
    done = subprocess.run(
        [compiler, *FLAGS, *sources, "-o", partial], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        partial.unlink(missing_ok=True)
        lines = done.stderr.strip().splitlines()
        raise HeapwrightError(
            f"the guest's init could not be compiled: {lines[0] if lines else compiler}",
            "\n".join([*lines[1:8], "sudo apt-get install gcc libc6-dev"]),
            exit_code=ExitCode.NOTHING_COMPARED,
        )
    partial.rename(place)


@dataclass(frozen=True, slots=True)
class Programs:
    """Programs of this machine that a load runs in the guest."""

    sysbench: bool = False
    storage: bool = False
    compiler: bool = False


def initramfs(cache: Path, wanted: Programs, files: Mapping[str, Entry] | None = None) -> bytes:
    """The archive as the kernel unpacks it, with `files` in it.

    Raises HeapwrightError for a program not found.
    """
    entries: dict[str, Entry] = {
        "init": regular(compiled_init(cache).read_bytes()),
        "dev": folder(),
        "dev/console": character(5, 1),
        **(files or {}),
    }
    programs = []
    if wanted.sysbench:
        programs.append((find_program("sysbench", "sysbench"), "usr/bin/sysbench"))
    if wanted.storage:
        programs.append((find_program("mke2fs", "e2fsprogs"), "sbin/mke2fs"))
    if wanted.compiler:
        programs += compiler_programs()
        entries |= compiled_sources()
    if programs and shutil.which("ldd") is None:
        raise HeapwrightError("there is no program ldd", "sudo apt-get install libc-bin")
    return compressed(cpio(entries | with_libraries(programs)))
