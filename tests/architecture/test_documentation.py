# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What the pages show still works: the allocator that a reader is led to write does compile."""

import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from support.running import ran

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "how-to" / "writing-an-allocator.md"


def fenced(page: Path, language: str) -> str:
    (block,) = re.findall(rf"```{language}\n(.*?)```", page.read_text("utf-8"), flags=re.DOTALL)
    return str(block)


def test_the_allocator_of_the_page_compiles_under_its_entry(tmp_path: Path) -> None:
    compiler = shutil.which("c++") or pytest.skip("no C++ compiler (package g++)")
    (entry,) = tomllib.loads(fenced(PAGE, "toml"))["composed"]
    header = tmp_path / entry["header"]
    header.parent.mkdir(parents=True)
    header.write_text(fenced(PAGE, "cpp"), encoding="utf-8")
    use = tmp_path / "use.cpp"
    use.write_text(
        f"#include <{entry['header']}>\n"
        f"int main() {{ static {entry['type']} heap; heap.free(heap.malloc(20)); }}\n",
        encoding="utf-8",
    )
    include = [f"-I{folder}" for folder in (ROOT / "include", tmp_path)]
    done = ran([compiler, "-std=c++20", "-Wall", "-Werror", *include, use, "-o", tmp_path / "use"])
    assert done.returncode == 0, done.stderr
    assert subprocess.run([tmp_path / "use"], check=False).returncode == 0


def compilation() -> str:
    """The compilation that the demo runs without the tool's environment."""
    demo = (ROOT / "scripts" / "demo.sh").read_text("utf-8")
    source = re.search(r"^source_file=(.+)$", demo, re.MULTILINE)
    command = re.search(r"^compile=\((.+)\)$", demo, re.MULTILINE)
    assert source, "scripts/demo.sh no longer names the file that it compiles"
    assert command, "scripts/demo.sh no longer states its compilation"
    return command[1].replace('"$source_file"', source[1])


def test_the_demo_compiles() -> None:
    if not shutil.which("g++"):
        pytest.skip("no C++ compiler (package g++)")
    done = ran(shlex.split(compilation()), cwd=ROOT)
    assert done.returncode == 0, done.stderr
