# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The C++ compiler: a large program, with garbage-collected pages of its own beside malloc."""

from pathlib import Path

from .under import Under, needed

ROOT = Path(__file__).parents[3]


def test_compiler_writes_the_same_object_file(under: Under, control: Under) -> None:
    gcc = needed("g++", "g++")
    source = ROOT / "native" / "runner" / "run" / "accounts.cpp"
    objects = []
    for place in (under, control):
        made = place.home / "made.o"
        # One file after the other, from the same folder and under the same name.
        command = [gcc, "-std=c++20", "-O2", f"-I{ROOT / 'include'}", f"-I{ROOT / 'native'}"]
        finished = place.run([*command, "-c", source, "-o", made], cwd=ROOT)
        assert any(process.exe.endswith("cc1plus") for process in finished.processes)
        objects.append(made.read_bytes())
    assert objects[0] == objects[1]
