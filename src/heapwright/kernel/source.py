# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The kernel's source, as the distribution packages it: found, named by its version, unpacked."""

import contextlib
import hashlib
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from heapwright.base.errors import HeapwrightError
from heapwright.kernel.folders import need_room
from heapwright.kernel.patch import Patch, apply_patch

SERIES = "6.1"
PACKAGE = f"linux-source-{SERIES}"
ARCHIVE = Path(f"/usr/src/{PACKAGE}.tar.xz")
HINT = (
    f"sudo apt-get install {PACKAGE}\n"
    "it is the last long-term series with SLAB, SLUB and SLOB; Debian 12 has it"
)
ROOM = 1_400 << 20
"""Bytes that the unpacked source needs, and a little."""
ARCHITECTURES = (
    *("alpha", "arc", "arm", "arm64", "csky", "hexagon", "ia64", "loongarch", "m68k"),
    *("microblaze", "mips", "nios2", "openrisc", "parisc", "powerpc", "riscv", "s390"),
    *("sh", "sparc", "xtensa"),
)
"""Other processors. The files of Kconfig in all of them are kept. Those of x86 and of the common
folders may read them, and the set that they read changes from one package to the next.
"""
NOT_NEEDED = (
    *(
        f"*/arch/{name}/*.{suffix}"
        for name in ARCHITECTURES
        for suffix in ("c", "h", "S", "dts", "dtsi", "dtso", "pl")
    ),
    "*/Documentation/devicetree/*",
    "*/drivers/gpu/drm/amd/include/*",
    "*/tools/perf/*",
    "*/tools/testing/*",
)
"""A third of it, which an x86 kernel without drivers is built without."""


@dataclass(frozen=True, slots=True)
class Source:
    """A kernel's source package as it lies on this machine."""

    archive: Path
    version: str


def find_source(archive: Path = ARCHIVE) -> Source:
    """Raises HeapwrightError that says what to install."""
    if not archive.is_file():
        raise HeapwrightError(f"the kernel's source is not there: {archive}", HINT)
    version = _package_version()
    if not version:
        status = archive.stat()
        version = f"{SERIES}-{status.st_size:x}-{int(status.st_mtime):x}"
    return Source(archive, re.sub(r"[^\w.+~-]", "_", version))


def _package_version() -> str:
    """The distribution's version of the package; empty where it has no dpkg. However long that
    takes: another answer on a busy machine would be another kernel."""
    if shutil.which("dpkg-query") is None:
        return ""
    command = ["dpkg-query", "-W", "-f=${Version}", PACKAGE]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def folder_of(source: Source, cache: Path, *patches: Patch) -> Path:
    """Where the source with these patches is, once unpacked.

    Its name has digests of the patches and of what is left out. A change of one of them unpacks the
    source again.
    """
    left_out = hashlib.sha256("\n".join(NOT_NEEDED).encode()).hexdigest()[:8]
    patched = "".join(f"-{patch.sha256[:8]}" for patch in patches)
    return cache / "source" / f"{source.version}-{left_out}{patched}"


def unpacked(source: Source, cache: Path, *patches: Patch) -> Path:
    """The folder of the source with these patches, unpacked if it is missing. Raises
    HeapwrightError."""
    folder = folder_of(source, cache, *patches)
    if folder.is_dir():
        return folder
    if shutil.which("tar") is None or shutil.which("xz") is None:
        raise HeapwrightError("unpacking needs tar and xz", "sudo apt-get install tar xz-utils")
    need_room(cache, ROOM, "the kernel's source")
    partial = folder.with_name(f".{folder.name}-{os.getpid()}")
    partial.mkdir(parents=True)
    try:
        excluded = [f"--exclude={pattern}" for pattern in NOT_NEEDED]
        command = ["tar", "-xJf", str(source.archive), "-C", str(partial), "--strip-components=1"]
        done = subprocess.run(
            [*command, "--wildcards", *excluded], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            why = (done.stderr.strip().splitlines() or ["tar failed"])[-1]
            raise HeapwrightError(
                f"{source.archive} could not be unpacked: {why}", "is the package whole?"
            )
        for patch in patches:
            apply_patch(patch, partial)
        partial.rename(folder)
    finally:
        with contextlib.suppress(OSError):
            shutil.rmtree(partial)
    return folder


def remove_unpacked(source: Source, cache: Path) -> list[Path]:
    """Remove the unpacked sources of this version, with and without patches; return them."""
    folders = sorted((cache / "source").glob(f"{source.version}-*"))
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
    return folders
