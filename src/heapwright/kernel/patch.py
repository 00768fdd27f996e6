# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The patches of the kernel's source: found, and applied as a whole. One adds an allocator, and one
adds the replay of recorded requests.

The patches are files of their own under the licence of the kernel. A patch is applied to a source
of its own, so kernels without it are built from the distribution's source alone.
"""

import hashlib
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from heapwright.base.errors import HeapwrightError
from heapwright.base.shipped import shipped_folder

SERIES_FOLDER = "patches/linux-6.1"
PATCHED = ("slqb",)
"""Allocators that were never in a released kernel."""
REPLAY = "replay"
"""The patch that adds the replay."""


@dataclass(frozen=True, slots=True)
class Patch:
    """A file in the form of `diff -u`, and the hash of its bytes."""

    path: Path
    sha256: str


def patch_of(allocator: str) -> Patch | None:
    """None if the kernel's source has this allocator. Raises HeapwrightError."""
    return find_patch(allocator) if allocator in PATCHED else None


def find_patch(name: str) -> Patch:
    """The patch of this name. Raises HeapwrightError."""
    path = shipped_folder(SERIES_FOLDER, "patches of the kernel") / f"{name}.patch"
    try:
        return Patch(path, hashlib.sha256(path.read_bytes()).hexdigest())
    except OSError as error:
        raise HeapwrightError(f"{path} cannot be read: {error}", "install again") from error


def apply_patch(patch: Patch, source: Path) -> None:
    """Apply all of it to an unpacked source. Raises HeapwrightError if a part does not fit."""
    if shutil.which("patch") is None:
        raise HeapwrightError("patching the kernel needs patch", "sudo apt-get install patch")
    command = ["patch", "--directory", str(source), "--strip=1", "--batch", "--forward"]
    done = subprocess.run(
        [*command, "--input", str(patch.path.resolve())],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        lines = done.stdout.strip().splitlines()
        wrong = [line for line in lines if "FAILED" in line or "Skipping" in line]
        raise HeapwrightError(
            f"{patch.path} does not fit this source: {wrong[0] if wrong else done.stderr.strip()}",
            "\n".join([*wrong[1:], "the patch was made for the series 6.1"]),
        )
