# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The C++ compiler: a large program, with garbage-collected pages of its own beside malloc."""

from collections.abc import Callable
from pathlib import Path

from .under import Under, needed

ROOT = Path(__file__).parents[3]
SOURCE = ROOT / "native" / "runner" / "run" / "accounts.cpp"


def compiled(place: Under) -> bytes:
    """The object file of one source, each time compiled from the same folder."""
    made = place.home / "made.o"
    command = [needed("g++", "g++"), "-std=c++20", "-O2", f"-I{ROOT / 'include'}"]
    command += [f"-I{ROOT / 'native'}", "-c", str(SOURCE), "-o", str(made)]
    finished = place.run(command, cwd=ROOT)
    assert any(process.exe.endswith("cc1plus") for process in finished.processes)
    return made.read_bytes()


def test_compiler_writes_the_same_object_file(
    under: Under, plain: Callable[[Callable[[Under], bytes]], bytes]
) -> None:
    assert compiled(under) == plain(compiled)
