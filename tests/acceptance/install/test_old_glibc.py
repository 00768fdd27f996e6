# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The libraries with which a wheel is linked lead to files that need at most glibc 2.28."""

import sys
from pathlib import Path

import pytest

from support.elf_versions import needed_versions
from support.running import ran

from .conftest import ROOT, run, tool

SCRIPT = ROOT / "packaging" / "wheel" / "old_glibc.py"
PROGRAM = """
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <memory_resource>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

static int started = 0;
struct Start {
    Start() { ++started; }
    ~Start() { std::puts("ended"); }
} start;

int main(int count, char** words) {
    struct stat status = {};
    std::pmr::unsynchronized_pool_resource pool;
    std::pmr::vector<int> numbers({1, 2, 3}, &pool);
    std::thread([&] { numbers.push_back(gettid() != getpid()); }).join();
    const bool found = stat(words[0], &status) == 0 && dlsym(RTLD_DEFAULT, "puts") && environ[0];
    std::printf("%d %d %d %d %s\\n", started, count, numbers.back(), found, strerrordesc_np(2));
}
"""
TOO_NEW = "#define _GNU_SOURCE\n#include <unistd.h>\nint main(void) { closefrom(3); return 0; }\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("old")
    run(sys.executable, SCRIPT, tool("g++"), made / "libraries")
    return made


def options(folder: Path) -> tuple[str, ...]:
    return f"-L{folder / 'libraries'}", "-Wl,--allow-shlib-undefined"


def test_a_program_needs_the_old_version_and_runs_with_this_one(folder: Path) -> None:
    (folder / "program.cpp").write_text(PROGRAM, encoding="utf-8")
    program = folder / "program"
    run(tool("g++"), "-std=c++20", *options(folder), folder / "program.cpp", "-o", program)
    versions = needed_versions(program)
    assert max(versions["GLIBC"]) <= (2, 28)
    assert max(versions["GLIBCXX"]) <= (3, 4, 24)
    assert run(program, "x") == "1 2 1 1 No such file or directory\nended\n"


def test_a_function_that_the_old_version_lacks_is_an_error_of_the_linker(folder: Path) -> None:
    (folder / "new.c").write_text(TOO_NEW, encoding="utf-8")
    command = [tool("gcc"), str(folder / "new.c"), "-o", str(folder / "new")]
    assert ran(command).returncode == 0
    done = ran([*command, *options(folder)])
    assert done.returncode != 0
    assert "undefined reference to `closefrom'" in done.stderr
