# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Instructions that a command and its children execute under each allocator, by cachegrind.

Each command runs once. The count repeats to a few in a million, independent of other work on the
machine. It shows the cost of an allocator's own path where the scatter of times hides it. It
ignores caches and page faults and does not replace a time.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from heapwright.base.native import library

FIXED = {
    "PERL_HASH_SEED": "0",
    "PERL_PERTURB_KEYS": "0",
}  # the order of hash keys is random otherwise


def missing() -> str | None:
    """What is needed and not here, as one sentence; None if all is."""
    if shutil.which("valgrind") is None:
        return "valgrind is not installed (package valgrind)"
    return None


def count(command: Sequence[str], allocator: str, cwd: Path) -> int:
    """Instructions of the whole process tree; `glibc` is the allocator that is there anyway.

    Raises RuntimeError if the command fails, or if valgrind left no count.
    """
    preload = {} if allocator == "glibc" else {"LD_PRELOAD": str(library(allocator))}
    with tempfile.TemporaryDirectory(prefix="heapwright-instructions-") as folder:
        valgrind = ["valgrind", "-q", "--tool=cachegrind", "--cache-sim=no", "--trace-children=yes"]
        valgrind += [f"--cachegrind-out-file={folder}/counts.%p"]
        done = subprocess.run(
            [*valgrind, *command],
            cwd=cwd,
            env={**os.environ, **FIXED, **preload},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        texts = [path.read_text() for path in Path(folder).glob("counts.*")]
    totals = [int(total) for text in texts for total in re.findall(r"^summary: (\d+)", text, re.M)]
    if done.returncode != 0 or not totals:
        raise RuntimeError(f"{' '.join(command)}: status {done.returncode}\n{done.stderr}")
    return sum(totals)


def load(path: Path) -> dict[str, int]:
    """Counts by allocator as `save` left them; none if there is no such file."""
    return dict(json.loads(path.read_text())) if path.is_file() else {}


def save(path: Path, counts: dict[str, int]) -> None:
    path.write_text(json.dumps(counts, indent=1) + "\n")
