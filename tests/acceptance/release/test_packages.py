# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Debian's packages install, work and purge without a trace, in a new system for each test.

What the packages and their tests need is part of the system before the list of its files is taken.
"""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
TESTS = ROOT / "packaging" / "debian" / "tests"
TOOL = "heapwright"
LIBRARIES = {
    "heapwright-headers",
    "libheapwright-c-dev",
    "libheapwright-granary-dev",
    "libheapwright-granary0",
}
SCRIPT = """
listed() {{
    find / -xdev -type d '(' -path /files -o -path /proc -o -path /sys -o -path /tmp \\
        -o -path /run -o -path /dev -o -path /root -o -path /var/log -o -path /var/cache ')' \\
        -prune -o -print |
        grep -v '^/var/lib/dpkg/.*-old$' | sort
}}
listed >before
dpkg --install ./*.deb >log 2>&1 || {{ cat log >&2; exit 1; }}
for each in {tests}; do ./$each; done
dpkg --purge {packages} >>log 2>&1 || {{ cat log >&2; exit 1; }}
listed >after
diff before after
echo no trace
"""
pytestmark = pytest.mark.slow


def name(package: Path) -> str:
    return package.name.partition("_")[0]


def files_for(folder: Path, release: Path, wanted: set[str]) -> Path:
    """The wanted packages and the tests of all packages."""
    files = folder / "files"
    shutil.copytree(TESTS, files)
    for package in release.glob("*.deb"):
        if name(package) in wanted:
            shutil.copy(package, files)
    assert {name(each) for each in files.glob("*.deb")} == wanted
    return files


def test_libraries_and_headers_on_debian_12(
    release: Path, in_debian: Callable[..., str], tmp_path: Path
) -> None:
    files = files_for(tmp_path, release, LIBRARIES)
    script = SCRIPT.format(tests="preload build", packages=" ".join(sorted(LIBRARIES)))
    said = in_debian("bookworm", script, files, "cmake,g++,make,pkg-config")
    assert said.splitlines() == ["preload: passed", "build: passed", "no trace"]


def test_the_tool_on_debian_13(
    release: Path, in_debian: Callable[..., str], tmp_path: Path
) -> None:
    files = files_for(tmp_path, release, {TOOL})
    (control,) = (TESTS.parent / "control").read_text(encoding="utf-8").split("\n\n")[-1:]
    needed = [line.split()[0] for line in control.splitlines() if line.startswith(" python3-")]
    script = SCRIPT.format(tests="compare", packages=TOOL)
    said = in_debian("trixie", script, files, ",".join(["python3", *needed]))
    assert said.splitlines()[-2:] == ["compare: passed", "no trace"]
