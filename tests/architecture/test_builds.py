# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Other builds of the same tree: the second compiler, and tests of objects under sanitizers.

The sanitizers own malloc, so under them the heaps are tested as objects and nothing is preloaded.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.compiles, pytest.mark.long]

ROOT = Path(__file__).parents[2]
NATIVE = ("trace", "recorder", "profiler", "leakscan", "runner", "replayer", "synth")
# The folders of tests that run under each set of sanitizers.
# ThreadSanitizer reports what two threads do to each other: it gets only what starts threads. The
# units leave out their other files themselves (tests/unit/CMakeLists.txt).
UNDER_ADDRESS = ("unit", "heaps/layers", *(f"native/{each}" for each in NATIVE))
UNDER_THREAD = {
    "unit": "tests/unit/all",
    "heaps/layers": "heapwright-shared-tests",
    **{
        f"native/{each}": f"tests/native/{each}/all"
        for each in ("recorder", "profiler", "replayer", "synth")
    },
}
# Of the layers only the heaps shared between threads: the names that GoogleTest gave their tests.
SHARED_HEAPS = ("-E", r"^(layers|pairs)\.[0-9]+$")
JOBS = str(len(os.sched_getaffinity(0)))
GTEST = Path("/usr/include/gtest/gtest.h")
REPORT = ["--output-on-failure", "--no-tests=error"]
WELL = re.compile(
    r"^ *Start +\d+:|Test +#\d+:.* Passed +[\d.]+ sec$|^\[ RUN +\]|^\[ +OK \]|^\[-+\]|^$"
)


def tool(*names: str) -> str:
    """A program by its names: beside this interpreter first, then on the path; skips without it."""
    beside = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    for name in names:
        if found := shutil.which(name, path=beside):
            return found
    pytest.skip(f"no {names[0]} here")


def run(*command: str | Path) -> None:
    """Run a command; a failure shows its last lines, but not those of tests that passed."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [line for line in (done.stdout + done.stderr).splitlines() if not WELL.search(line)]
    tail = "\n".join(lines[-200:])
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{tail}"


def configure(folder: Path, *options: str) -> None:
    run(
        tool("cmake"),
        *("-S", ROOT, "-B", folder, "-G", "Ninja"),
        f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}",
        f"-DPython3_EXECUTABLE={sys.executable}",
        *options,
    )


def run_tests(folder: Path, *chosen: str) -> None:
    run(tool("ctest"), "--test-dir", folder, *chosen, "-j", JOBS, *REPORT)


def test_clang_builds_everything_and_objects_pass_under_address_sanitizer(tmp_path: Path) -> None:
    cxx, c = tool("clang++-14", "clang++"), tool("clang-14", "clang")
    tests = "ON" if GTEST.exists() else "OFF"
    configure(
        tmp_path,
        *(f"-DCMAKE_CXX_COMPILER={cxx}", f"-DCMAKE_C_COMPILER={c}"),
        *(f"-DHEAPWRIGHT_TESTS={tests}", "-DHEAPWRIGHT_SANITIZE=address,undefined"),
        *("-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0"),  # equal warnings, less time
    )
    run(tool("cmake"), "--build", tmp_path, "--parallel", JOBS)
    if tests == "ON":
        for folder in UNDER_ADDRESS:
            run_tests(tmp_path / "tests" / folder)


def test_objects_pass_under_thread_sanitizer(tmp_path: Path) -> None:
    if not GTEST.exists():
        pytest.skip("no GoogleTest (package libgtest-dev)")
    configure(
        tmp_path,
        *("-DHEAPWRIGHT_TESTS=ON", "-DHEAPWRIGHT_SANITIZE=thread", "-DCMAKE_BUILD_TYPE=Debug"),
    )
    run(tool("ninja"), "-C", tmp_path, "-j", JOBS, *UNDER_THREAD.values())
    for folder in UNDER_THREAD:
        run_tests(tmp_path / "tests" / folder, *(SHARED_HEAPS if folder == "heaps/layers" else ()))
