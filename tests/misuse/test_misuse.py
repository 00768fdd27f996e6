# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Tiny programs that misuse the heap, each with the exact words it must die with.

The words stand in the program, after `aborts:`; a line `under NAME: SIGSEGV` says that one of our
allocators cannot see the mistake before the processor does, a line `under NAME: nothing` that the
program goes on to its end there, a line `under NAME: heapwright: …` that it dies with other words.
Nothing but those words may be on standard error, and the end must be abort, not a crash on the way
to it.
"""

import os
import re
import resource
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from heapwright.artefacts.allocator.catalogue import read_catalogue
from heapwright.base import native

HERE = Path(__file__).parent
PROGRAMS = sorted([*HERE.glob("*.c"), *HERE.glob("*.cpp")])
CATALOGUE = read_catalogue(HERE.parents[1] / "catalogue" / "allocators.toml")
# The compiler must neither see the mistake nor know what malloc is.
OPTIONS = ("-w", "-O0", "-fno-builtin", "-pthread")


@pytest.fixture(scope="module", params=PROGRAMS, ids=lambda path: path.stem)
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One of the programs, compiled; its source stands beside it."""
    source = request.param
    assert isinstance(source, Path)
    compiler = {".c": "cc", ".cpp": "c++"}[source.suffix]
    path = shutil.which(compiler)
    if path is None:
        pytest.skip(f"no compiler {compiler} (package g++)")
    made = tmp_path_factory.mktemp("misuse") / source.stem
    subprocess.run([path, *OPTIONS, "-o", made, source], check=True)
    return made


def expectation(program: Path, allocator: str) -> tuple[int, str]:
    """The signal and the words with which the program must end."""
    (source,) = (path for path in PROGRAMS if path.stem == program.name)
    text = source.read_text(encoding="utf-8")
    (words,) = re.findall(r"^// aborts: (.*)$", text, re.MULTILINE)
    other = re.search(rf"^// under {re.escape(allocator)}: (.*)$", text, re.MULTILINE)
    words = words if other is None else other[1]
    if not words.startswith("heapwright: "):
        return {"SIGSEGV": signal.SIGSEGV, "nothing": 0}[words], ""
    return signal.SIGABRT, f"{words}\n"


def without_core() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


@pytest.mark.parametrize("allocator", [entry.name for entry in CATALOGUE.composed])
def test_dies_with_its_words(program: Path, allocator: str) -> None:
    plain = {key: value for key, value in os.environ.items() if not key.startswith("LD_")}
    done = subprocess.run(
        [program],
        env=plain | {"LD_PRELOAD": str(native.library(allocator))},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        preexec_fn=without_core,
    )
    number, words = expectation(program, allocator)
    assert (done.returncode, done.stdout, done.stderr) == (-number, "", words)
