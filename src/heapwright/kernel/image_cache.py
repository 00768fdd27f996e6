# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The kernels that are built: one folder each, named by allocator, version and configuration.

A folder is filled elsewhere and renamed into its place when it is whole. The file kernel.json has
the hash of the image, which is checked before the kernel is booted.
"""

import contextlib
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from heapwright.artefacts.run.provenance import sha256_of
from heapwright.base.errors import HeapwrightError

IMAGE = "bzImage"
CONFIG = "config"
CARD = "kernel.json"
MADE = Path("arch/x86/boot") / IMAGE


@dataclass(frozen=True, slots=True)
class Built:
    """A kernel in the cache."""

    key: str
    allocator: str
    version: str
    sha256: str
    folder: Path

    @property
    def image(self) -> Path:
        return self.folder / IMAGE


def key_of(allocator: str, version: str, configuration: str) -> str:
    """The name of a kernel's folder."""
    return f"{allocator}-{version}-{configuration[:16]}"


def store(key: str, allocator: str, version: str, made: Path, cache: Path) -> Built:
    """Put what make made into the cache, in one step. Raises HeapwrightError if there is none."""
    if not (made / MADE).is_file():
        raise HeapwrightError(f"make left no {made / MADE}", f"its output: {made / 'make.log'}")
    folder = cache / "built" / key
    partial = cache / "built" / f".{key}-{os.getpid()}"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        shutil.copyfile(made / MADE, partial / IMAGE)
        shutil.copyfile(made / ".config", partial / CONFIG)
        sha256 = sha256_of(partial / IMAGE)
        card = {"key": key, "allocator": allocator, "version": version, "sha256": sha256}
        (partial / CARD).write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")
        shutil.rmtree(folder, ignore_errors=True)
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return Built(key, allocator, version, sha256, folder)


def find(key: str, cache: Path) -> Built | None:
    """The kernel of this name if it is there and whole."""
    folder = cache / "built" / key
    try:
        card = json.loads((folder / CARD).read_text(encoding="utf-8"))
        built = Built(card["key"], card["allocator"], card["version"], card["sha256"], folder)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if built.key != key or sha256_of(built.image) != built.sha256:
        return None
    return built


def every(cache: Path) -> Iterator[Built]:
    """All that are there, by name."""
    with contextlib.suppress(OSError):
        for folder in sorted((cache / "built").iterdir()):
            if not folder.name.startswith(".") and (built := find(folder.name, cache)):
                yield built


def document(built: Built) -> dict[str, str]:
    """What --json shows of it."""
    return {name: str(value) for name, value in asdict(built).items()}
