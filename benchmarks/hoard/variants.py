# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Builds the variants of Hoard (variants.hpp) into libraries, and runs workloads under them."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heapwright.base import native

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

import composed  # noqa: E402


def build(variant: str, folder: Path) -> Path:
    """The library of one type of variants.hpp, made in `folder`."""
    name = f"hoard-{variant.lower()}"
    return composed.build(HERE / "variants.hpp", f"heapwright::variants::{variant}", name, folder)


@dataclass(frozen=True)
class Result:
    """The output of a workload. At the peak of the allocator also the bytes of its superblocks,
    of their slots and of the live ones (0: unknown)."""

    line: dict[str, Any]
    superblocks: int
    slots: int
    live: int

    @property
    def seconds(self) -> float:
        return float(self.line["seconds"])

    @property
    def peak_live(self) -> int:
        """U: the peak of live bytes, in requested sizes; from a run that observed memory."""
        return int(self.line["peak_live"])


def run(
    library: Path | None, workload: str, options: Sequence[str], limit_s: float = 900
) -> Result:
    """One run under a library; None is the C library. Raises if it does not end well."""
    plain = {key: value for key, value in os.environ.items() if not key.startswith("LD_")}
    if library is not None:
        plain["LD_PRELOAD"] = str(library)
    with tempfile.NamedTemporaryFile(prefix="heapwright-taken-") as taken:
        done = subprocess.run(
            [native.native_dir() / "workloads" / workload, *options],
            env=plain | {"HEAPWRIGHT_TAKEN": taken.name},
            capture_output=True,
            text=True,
            check=False,
            timeout=limit_s,
        )
        said = Path(taken.name).read_text()
    if done.returncode != 0:
        words = " ".join([workload, *options])
        raise RuntimeError(f"{words} under {library}: status {done.returncode}\n{done.stderr}")
    memory = json.loads(said) if said else {"superblocks": 0, "slots": 0, "live": 0}
    return Result(json.loads(done.stdout), **memory)
