# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Sources that hold one mistake a routine: what stands above each, and how one is made."""

import os
import re
import resource
import shutil
import subprocess
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
# The compiler must neither see the mistake nor know what malloc is.
OPTIONS = ("-w", "-O0", "-fno-builtin", "-pthread", f"-I{TESTS}")
PLAIN = {key: value for key, value in os.environ.items() if not key.startswith("LD_")}


def mistakes_of(source: Path) -> dict[str, str]:
    """The comment above each mistake, by name."""
    found = re.findall(
        r"((?:^//.*\n)+)^MISTAKE\((\w+)\)", source.read_text(encoding="utf-8"), re.MULTILINE
    )
    return {name: comment for comment, name in found}


def compiled(source: Path, folder: Path) -> Path:
    """The program of a source, which makes the mistake that its argument names."""
    compiler = {".c": "cc", ".cpp": "c++"}[source.suffix]
    path = shutil.which(compiler) or pytest.skip(f"no compiler {compiler} (package g++)")
    made = folder / source.stem
    subprocess.run([path, *OPTIONS, "-o", made, source], check=True)
    return made


def without_core() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def make(program: Path, mistake: str, library: Path | None) -> subprocess.CompletedProcess[str]:
    """Makes one mistake, with a library preloaded."""
    return subprocess.run(
        [program, mistake],
        env=PLAIN if library is None else PLAIN | {"LD_PRELOAD": str(library)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        preexec_fn=without_core,
    )
