# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Boots a kernel with SLQB twice, and compares the records. Builds it only if that is necessary.

    python scripts/boot_kernel.py [--decide]

Run it with the environment that has the tool; `make test-boot` does. The kernel is in the cache
folder of the user. The file `parts.sha256` beside its image has the digest of the files that it was
built with: patch, configuration and the code that builds. If the digest of this tree is the same,
the kernel is only booted, which takes seconds. Otherwise it is built once more, which takes
minutes. Another version of the source package is another kernel, and is built too. `--decide` only
prints what would be done. Exit status 1: the two boots differ, or the load did not end well.
"""

import argparse
import hashlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from heapwright.artefacts.kernel_study.boot import KernelBoot
from heapwright.base.errors import HeapwrightError
from heapwright.commands.kernel_build import made_kernels
from heapwright.kernel.boot import Asked, boot
from heapwright.kernel.build import plan
from heapwright.kernel.folders import kernel_cache
from heapwright.kernel.image_cache import Built, find
from heapwright.kernel.loads import load_of
from heapwright.kernel.source import find_source

ROOT = Path(__file__).resolve().parents[1]
ALLOCATOR = "slqb"
"""Its kernel also shows that the patch fits the source, and compiles."""
MODULES = ("build", "configuration", "folders", "image_cache", "patch", "processes", "source")
PARTS = (
    "catalogue/kernels/common.config",
    f"catalogue/kernels/{ALLOCATOR}.config",
    f"patches/linux-6.1/{ALLOCATOR}.patch",
    *(f"src/heapwright/kernel/{name}.py" for name in MODULES),
)
"""Files that a build reads or runs."""
STAMP = "parts.sha256"
LOAD = "churn"
SEED = 5


def digest(root: Path = ROOT) -> str:
    """Of names and bytes of all parts."""
    whole = hashlib.sha256()
    for name in PARTS:
        content = hashlib.sha256((root / name).read_bytes()).hexdigest()
        whole.update(f"{name} {content}\n".encode())
    return whole.hexdigest()


def why_build(built: Built | None, parts: str) -> str:
    """The reason for a build; empty if the cached kernel is that of these parts."""
    if built is None:
        return "the cache has no such kernel"
    try:
        stamp = (built.folder / STAMP).read_text(encoding="utf-8").strip()
    except OSError:
        return "the cached kernel does not say what it was built with"
    return "" if stamp == parts else "a part of the build has changed"


def wrong(first: KernelBoot, second: KernelBoot) -> str:
    """What is wrong with two boots of one seed; empty if nothing is."""
    if first.records_sha256 != second.records_sha256:
        return f"two boots with seed {SEED} recorded other bytes"
    for name in ("oom_kill", "refused"):
        if first.responses[name]:
            return f"{name} is {first.responses[name]:.0f} and must be 0"
    return ""


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="scripts/boot_kernel.py")
    parser.add_argument("--decide", action="store_true", help="print what would be done")
    decide = parser.parse_args(arguments).decide
    cache = kernel_cache(os.environ)
    built = find(plan(ALLOCATOR, find_source()).key, cache)
    parts = digest()
    why = why_build(built, parts)
    _say(f"build and boot {ALLOCATOR}: {why}" if why else f"boot {ALLOCATOR} from the cache")
    if decide:
        return 0
    if why or built is None:
        jobs = len(os.sched_getaffinity(0))
        (built,) = made_kernels([ALLOCATOR], cache, jobs, again=True)
        (built.folder / STAMP).write_text(f"{parts}\n", encoding="utf-8")
    asked = Asked(load_of(LOAD, "small"), seed=SEED)
    found = wrong(boot(built, asked, cache), boot(built, asked, cache))
    _say(f"FAILED: {found}" if found else f"two boots under {LOAD} recorded the same bytes")
    return 1 if found else 0


def _say(text: str) -> None:
    print(f"boot_kernel: {text}", flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except HeapwrightError as error:
        sys.exit(f"boot_kernel: FAILED: {error.message}\n{error.hint}")
