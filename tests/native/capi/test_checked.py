# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The checking library: misuse of reaps and regions, each with its exact words.

The words stand above each mistake, after `aborts:`; nothing else may be on standard error, and
the end must be abort. Programs without mistakes hold as they do on the other library.
"""

import os
import re
import shutil
import signal
from pathlib import Path

import pytest

from heapwright.base.native import NativeMissingError, native_dir
from support.mistakes import TESTS, make, mistakes_of
from support.running import ran

ROOT = Path(__file__).parents[3]
HERE = Path(__file__).parent
MISUSE = HERE / "misuse.c"
SOURCES = [
    *sorted((ROOT / "native" / "capi" / "checked").glob("*.cpp")),
    *(
        ROOT / "native" / "capi" / name
        for name in ("obstack.c", "obstack_in.c", "obstack_shared.c", "heap.cpp", "xalloc.cpp")
    ),
]
INCLUDE = [f"-I{ROOT / 'include'}", f"-I{ROOT / 'native'}"]
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g"]
# A malloc that gives null where there is no memory, as without the sanitizer. What waits after its
# free is in maps whose pages the leak checker does not look into.
ENVIRONMENT = {**os.environ, "ASAN_OPTIONS": "allocator_may_return_null=1:detect_leaks=0"}


def tool(name: str) -> str:
    return shutil.which(name) or pytest.skip(f"needs {name} (package {name})")


def run(*command: str | Path) -> str:
    done = ran(command, env=ENVIRONMENT, timeout=300)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done.stdout


def compile_library(folder: Path, *options: str) -> list[Path]:
    """The object files; they need no C++ runtime."""
    objects = []
    for source in SOURCES:
        target = folder / f"{source.name}.o"
        driver = [tool("gcc"), "-std=c11"]
        if source.suffix == ".cpp":
            driver = [tool("g++"), "-std=c++20", "-fno-exceptions", "-fno-rtti"]
        run(*driver, "-O1", *options, *INCLUDE, "-c", source, "-o", target)
        objects.append(target)
    return objects


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Without sanitizers, which would end the programs in their own words."""
    return compile_library(tmp_path_factory.mktemp("checked"))


@pytest.fixture(scope="module")
def program(library: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("mistakes") / "misuse"
    run(tool("gcc"), "-w", "-O1", *INCLUDE, f"-I{TESTS}", MISUSE, *library, "-o", made)
    return made


@pytest.mark.parametrize(("mistake", "comment"), mistakes_of(MISUSE).items())
def test_misuse_aborts_with_its_message(mistake: str, comment: str, program: Path) -> None:
    (words,) = re.findall(r"^// aborts: (.*)$", comment, re.MULTILINE)
    done = make(program, mistake, None)
    assert (done.returncode, done.stdout) == (-signal.SIGABRT, "")
    assert done.stderr == f"{words}\n"


@pytest.mark.compiles
def test_programs_without_mistakes_hold(tmp_path: Path) -> None:
    sanitized = compile_library(tmp_path, *SANITIZERS)
    for name in ("reap", "region", "xalloc"):
        flags = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-DONE_BY_ONE", "-pthread"]
        source = HERE / "programs" / f"{name}.c"
        run(tool("gcc"), *flags, *SANITIZERS, *INCLUDE, source, *sanitized, "-o", tmp_path / name)
        run(tmp_path / name)


def test_the_installed_library_gives_what_the_other_gives() -> None:
    def given(name: str) -> set[str]:
        try:
            path = native_dir() / "lib" / name
        except NativeMissingError as error:
            pytest.skip(f"{error.message}: {error.hint}")
        if not path.exists():
            pytest.skip(f"{name} is not installed: build and install again")
        listed = run(tool("nm"), "-D", "--defined-only", path)
        return {line.split()[-1] for line in listed.splitlines()}

    names = given("libheapwright-c-checked.so")
    assert len(names) > 40
    assert names == given("libheapwright-c.so")
