# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The binary interface of libheapwright-c: a function that is removed or changes is found.

`scripts/abi.py --write` records an intended change, which is a new version of the interface
(docs/reference/versions.md).
"""

import platform
import re
import shutil
import subprocess
from pathlib import Path

import abi
import pytest

pytestmark = [
    pytest.mark.compiles,
    pytest.mark.skipif(
        platform.machine() != "x86_64",
        reason="the interface is kept for x86-64, not this processor",
    ),
]

PROGRAM = """#include <heapwright/c/region.h>
int main(void) { return heapwright_region_create(NULL) == NULL; }
"""


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The object files of the library, with debug information."""
    for name in ("abidiff", "gcc", "g++"):
        if not shutil.which(name):
            pytest.skip(f"no {name} here (packages abigail-tools, gcc, g++)")
    return abi.compile_objects(tmp_path_factory.mktemp("objects"))


def exports(folder: Path, pattern: str, replacement: str) -> Path:
    """The version script with one change."""
    text, count = re.subn(pattern, replacement, abi.EXPORTS.read_text(encoding="utf-8"))
    assert count == 1
    script = folder / "exports.map"
    script.write_text(text, encoding="utf-8")
    return script


def test_the_interface_is_the_committed_one(objects: list[Path], tmp_path: Path) -> None:
    difference = abi.difference(abi.link(objects, tmp_path / "library.so"))
    assert difference == "", f"{difference}\nIntended? scripts/abi.py --write records it."


def test_a_removed_function_is_found(objects: list[Path], tmp_path: Path) -> None:
    script = exports(tmp_path, "heapwright_region_strdup;", "")
    report = abi.difference(abi.link(objects, tmp_path / "library.so", script))
    assert "1 Removed" in report
    assert "heapwright_region_strdup@@HEAPWRIGHT_1" in report


def test_an_added_function_is_found(objects: list[Path], tmp_path: Path) -> None:
    source, added = tmp_path / "added.c", tmp_path / "added.o"
    source.write_text("int heapwright_region_added(int which) { return which; }\n")
    subprocess.run(["gcc", "-g", "-fPIC", "-c", source, "-o", added], check=True)
    script = exports(tmp_path, "heapwright_region_strdup;", r"\g<0> heapwright_region_added;")
    report = abi.difference(abi.link([*objects, added], tmp_path / "library.so", script))
    assert "heapwright_region_added@@HEAPWRIGHT_1" in report


@pytest.mark.parametrize(
    ("before", "after", "named"),
    [
        ("uint64_t peak_bytes;", "uint32_t peak_bytes;", "struct heapwright_heap_figures"),
        ("uint64_t refusals;", "uint64_t refusals; uint64_t more;", "type size changed"),
    ],
    ids=["member", "size"],
)
def test_a_changed_structure_is_found(
    before: str, after: str, named: str, objects: list[Path], tmp_path: Path
) -> None:
    headers = shutil.copytree(abi.HEADERS, tmp_path / "heapwright" / "c")
    text = (headers / "heap.h").read_text(encoding="utf-8")
    assert text.count(before) == 1
    (headers / "heap.h").write_text(text.replace(before, after), encoding="utf-8")
    changed = abi.compile_objects(tmp_path, include=tmp_path, only="heap")
    others = [each for each in objects if each.name != "heap.o"]
    report = abi.difference(abi.link([*others, *changed], tmp_path / "library.so"), headers)
    assert "heapwright_heap_statistics" in report
    assert named in report


def test_a_program_of_another_version_is_refused(objects: list[Path], tmp_path: Path) -> None:
    library = tmp_path / "libheapwright-c.so"
    source, program = tmp_path / "program.c", tmp_path / "program"
    source.write_text(PROGRAM, encoding="utf-8")
    include = f"-I{abi.ROOT / 'include'}"
    abi.link(objects, library)
    abi.output(["gcc", include, source, library, f"-Wl,-rpath,{tmp_path}", "-o", program])
    assert subprocess.run([program], check=False).returncode == 0
    abi.link(objects, library, exports(tmp_path, "(?m)^HEAPWRIGHT_1", "HEAPWRIGHT_2"))
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "version `HEAPWRIGHT_1' not found" in done.stderr
