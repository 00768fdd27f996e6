# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The emulated library: the same functions, each object one of malloc's.

Its source is compiled here with the address and undefined-behaviour sanitizers; what is preloaded
is the library that is installed.
"""

import os
import shutil
from pathlib import Path

import pytest

from heapwright.base.native import NativeMissingError, native_dir
from support.running import ran

ROOT = Path(__file__).parents[3]
PROGRAMS = Path(__file__).parent / "programs"
SOURCES = [
    *sorted((ROOT / "native" / "capi" / "emulated").glob("*.cpp")),
    ROOT / "native" / "capi" / "heap.cpp",
    ROOT / "native" / "capi" / "obstack_in.c",
    ROOT / "native" / "capi" / "obstack_shared.c",
]
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g"]
WRAPPED = ["malloc", "calloc", "realloc", "posix_memalign", "free"]
# A malloc that gives null where there is no memory, as without the sanitizer.
ENVIRONMENT = {**os.environ, "ASAN_OPTIONS": "allocator_may_return_null=1", "LC_ALL": "C"}


def tool(name: str) -> str:
    return shutil.which(name) or pytest.skip(f"needs {name} (package {name})")


def run(*command: str | Path, preload: tuple[Path, ...] = ()) -> str:
    environment = {**ENVIRONMENT, "LD_PRELOAD": ":".join(map(str, preload))}
    done = ran(command, env=environment, timeout=120)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The object files; they need no C++ runtime."""
    folder = tmp_path_factory.mktemp("emulated")
    objects = []
    for source in SOURCES:
        target = folder / f"{source.name}.o"
        driver = [tool("gcc"), "-std=c11"]
        if source.suffix == ".cpp":
            driver = [tool("g++"), "-std=c++20", "-fno-exceptions", "-fno-rtti"]
        include = [f"-I{ROOT / 'include'}", f"-I{ROOT / 'native'}"]
        run(*driver, "-O1", *SANITIZERS, *include, "-c", source, "-o", target)
        objects.append(target)
    return objects


def build(program: str, target: Path, *more: str | Path) -> Path:
    flags = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'include'}"]
    run(tool("gcc"), *flags, PROGRAMS / f"{program}.c", *more, "-o", target)
    return target


def installed(name: str) -> Path:
    try:
        path = native_dir() / "lib" / name
    except NativeMissingError as error:
        pytest.skip(f"{error.message}: {error.hint}")
    if not path.exists():
        pytest.skip(f"{name} is not installed: build and install again")
    return path


@pytest.mark.compiles
def test_each_object_is_one_of_malloc_and_lives_as_long(
    library: list[Path], tmp_path: Path
) -> None:
    wraps = "-Wl," + ",".join(f"--wrap={name}" for name in WRAPPED)
    run(build("emulated_lifetimes", tmp_path / "program", *SANITIZERS, *library, wraps))


@pytest.mark.compiles
@pytest.mark.parametrize("program", ["region"])
def test_a_program_of_the_other_library_holds(
    program: str, library: list[Path], tmp_path: Path
) -> None:
    run(build(program, tmp_path / program, *SANITIZERS, *library))


@pytest.mark.compiles
def test_obstacks_keep_what_is_on_them_as_the_c_librarys_do(
    library: list[Path], tmp_path: Path
) -> None:
    define = "-DWITH_HEAPWRIGHT"
    ours = build("obstack_model", tmp_path / "ours", define, *SANITIZERS, *library)
    theirs = build("obstack_model", tmp_path / "theirs")
    assert run(ours) == run(theirs) != ""


@pytest.mark.compiles
def test_without_memory_an_obstack_calls_the_handler(library: list[Path], tmp_path: Path) -> None:
    program = build(
        "obstack_exhausted", tmp_path / "program", "-DWITH_HEAPWRIGHT", *SANITIZERS, *library
    )
    # It ends in the middle, with objects on the obstack.
    quiet = {**ENVIRONMENT, "ASAN_OPTIONS": "detect_leaks=0"}
    done = ran([program], env=quiet)
    assert (done.returncode, done.stdout) == (7, "kept 5\nkept 100005\n")
    assert done.stderr == "memory exhausted\n"


@pytest.mark.compiles
def test_freeing_what_is_on_no_obstack_aborts(library: list[Path], tmp_path: Path) -> None:
    program = build(
        "obstack_foreign", tmp_path / "program", "-DWITH_HEAPWRIGHT", *SANITIZERS, *library
    )
    done = ran([program], env=ENVIRONMENT)
    assert done.returncode == -6
    assert done.stderr == "heapwright: obstack_free(): object of another obstack\n"


def test_a_program_of_regions_runs_on_it_when_it_is_preloaded(tmp_path: Path) -> None:
    shared, emulated = installed("libheapwright-c.so"), installed("libheapwright-c-emulated.so")
    program = build(
        "emulated_preloaded", tmp_path / "program", shared, f"-Wl,-rpath,{shared.parent}"
    )
    assert run(program) == "in chunks\n"
    assert run(program, preload=(emulated,)) == "one by one\n"
    lea = installed("libheapwright-lea.so")
    assert run(program, preload=(lea, emulated)) == "one by one\n"


def test_it_gives_what_the_other_gives() -> None:
    def given(name: str) -> set[str]:
        listed = run(tool("nm"), "-D", "--defined-only", installed(name))
        return {line.split()[-1] for line in listed.splitlines()}

    names = given("libheapwright-c-emulated.so")
    assert len(names) > 40
    assert names == given("libheapwright-c.so")
