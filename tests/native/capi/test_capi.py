# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Heaps, regions, reaps, obstacks and xalloc from C: programs that use them, compiled and run.

Programs of obstacks are compiled twice, with the header of the C library and with the project's.
They must print the same. The project's code runs under the address and undefined-behaviour
sanitizers, which also see memory that is never freed.
"""

import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from support.mistakes import TESTS, make, mistakes_of

ROOT = Path(__file__).parents[3]
HERE = Path(__file__).parent
MISUSE = HERE / "heap_misuse.c"
NEEDS_APR = "apr.h"
"""It includes APR's headers; tests/native/apr compiles it."""
NEEDS_GOOGLETEST = "limit_googletest.h"
"""It is C++; tests/native/counter compiles it."""
HEADERS = sorted(
    header
    for header in (ROOT / "include" / "heapwright" / "c").glob("*.h")
    if header.name not in (NEEDS_APR, NEEDS_GOOGLETEST)
)
OTHERS = {"drag.h", "events.h", "granary.h", "label.h", "limit.h", "mark.h"}
"""Headers whose functions other libraries define."""
IN_THE_LIBRARY = [header for header in HEADERS if header.name not in OTHERS]
SOURCES = sorted(
    [*(ROOT / "native" / "capi").glob("*.c"), *(ROOT / "native" / "capi").glob("*.cpp")]
)
WARNINGS = ["-Wall", "-Wextra", "-Wshadow", "-Wstrict-prototypes", "-Werror"]
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g"]
COMPILERS = {"gcc": ["gcc"], "clang": ["clang", "clang-14"]}


def tool(*names: str) -> str:
    for name in names:
        if found := shutil.which(name):
            return found
    pytest.skip(f"no {names[0]} here (packages gcc, g++, clang-14)")


# A malloc that gives null where there is no memory, as without the sanitizer.
ENVIRONMENT = {**os.environ, "ASAN_OPTIONS": "allocator_may_return_null=1", "LC_ALL": "C"}


def run(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=ENVIRONMENT)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done.stdout


def compile_library(folder: Path, *options: str) -> list[Path]:
    """The object files of the library; its C++ parts need no C++ runtime."""
    objects = []
    for source in SOURCES:
        target = folder / f"{source.name}.o"
        if source.suffix == ".c":
            driver = [tool("gcc"), "-std=c11"]
        else:
            driver = [tool("g++"), "-std=c++20", "-fno-exceptions", "-fno-rtti"]
        include = [f"-I{ROOT / 'include'}", f"-I{ROOT / 'native'}"]
        run(*driver, "-O1", "-fPIC", *options, *include, "-c", source, "-o", target)
        objects.append(target)
    return objects


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return compile_library(tmp_path_factory.mktemp("library"), *SANITIZERS)


def build(program: str, library: list[Path], target: Path, *more: str) -> Path:
    """One of the programs with the project's header and library, linked as C."""
    flags = ["-std=gnu11", "-O1", *WARNINGS, *SANITIZERS, "-DWITH_HEAPWRIGHT"]
    source = HERE / "programs" / f"{program}.c"
    include = f"-I{ROOT / 'include'}"
    run(tool("gcc"), *flags, include, source, *library, "-pthread", *more, "-o", target)
    return target


def with_the_c_library(program: str, target: Path) -> Path:
    source = HERE / "programs" / f"{program}.c"
    run(tool("gcc"), "-std=gnu11", "-O1", *WARNINGS, source, "-o", target)
    return target


@pytest.mark.parametrize("program", ["heap", "region", "reap", "xalloc"])
def test_program_holds(program: str, library: list[Path], tmp_path: Path) -> None:
    run(build(program, library, tmp_path / program))


def test_memory_may_run_out_at_any_depth(library: list[Path], tmp_path: Path) -> None:
    run(build("reap_exhausted", library, tmp_path / "program", "-Wl,--wrap=malloc"))


def test_a_heap_ends_at_a_cost_for_each_chunk(library: list[Path], tmp_path: Path) -> None:
    wrapped = [f"-Wl,--wrap={name}" for name in ("mmap", "munmap", "madvise", "malloc")]
    run(build("heap_calls", library, tmp_path / "program", *wrapped))


@pytest.fixture(scope="module")
def misuse(library: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("mistakes") / "misuse"
    include = [f"-I{ROOT / 'include'}", f"-I{TESTS}"]
    run(tool("gcc"), "-w", "-O1", *SANITIZERS, *include, MISUSE, *library, "-o", program)
    return program


@pytest.mark.parametrize(("mistake", "comment"), mistakes_of(MISUSE).items())
def test_misuse_of_heaps_aborts_with_its_message(mistake: str, comment: str, misuse: Path) -> None:
    (words,) = re.findall(r"^// aborts: (.*)$", comment, re.MULTILINE)
    done = make(misuse, mistake, None)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGABRT, "", f"{words}\n")


@pytest.mark.parametrize("program", ["obstack_interface", "obstack_model"])
def test_only_the_include_line_differs(program: str, library: list[Path], tmp_path: Path) -> None:
    ours = run(build(program, library, tmp_path / "ours"))
    theirs = run(with_the_c_library(program, tmp_path / "theirs"))
    assert ours.count("\n") >= 4
    assert ours == theirs


def test_without_memory_the_handler_is_called(library: list[Path], tmp_path: Path) -> None:
    programs = [
        build("obstack_exhausted", library, tmp_path / "ours"),
        with_the_c_library("obstack_exhausted", tmp_path / "theirs"),
    ]
    for program in programs:
        quiet = {**ENVIRONMENT, "ASAN_OPTIONS": "detect_leaks=0"}  # it ends in the middle
        done = subprocess.run([program], capture_output=True, text=True, check=False, env=quiet)
        assert (done.returncode, done.stdout) == (7, "kept 5\nkept 100005\n")
        assert done.stderr == "memory exhausted\n"


# What the programs of docs/how-to/use-from-c.md print, in its order.
PRINTED = list(
    enumerate(
        [
            "refused, 72000 bytes in 500 objects\n",
            "a name 0\n",
            "a, with room for more\n",
            "one\n",
            "1.5\n",
        ]
    )
)


@pytest.mark.parametrize(("which", "printed"), PRINTED)
def test_the_page_shows_programs_that_run(
    which: int, printed: str, library: list[Path], tmp_path: Path
) -> None:
    page = (ROOT / "docs" / "how-to" / "use-from-c.md").read_text(encoding="utf-8")
    source = tmp_path / "shown.c"
    source.write_text(re.findall(r"```c\n(.*?)```", page, flags=re.DOTALL)[which])
    flags = ["-std=c11", "-O1", *WARNINGS, *SANITIZERS, f"-I{ROOT / 'include'}"]
    run(tool("gcc"), *flags, source, *library, "-o", tmp_path / "shown")
    assert run(tmp_path / "shown") == printed


def test_freeing_what_is_on_no_obstack_aborts(library: list[Path], tmp_path: Path) -> None:
    program = build("obstack_foreign", library, tmp_path / "program")
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert done.returncode == -6
    assert done.stderr == "heapwright: obstack_free(): object of another obstack\n"


@pytest.mark.parametrize("header", HEADERS, ids=lambda header: str(header.name))
@pytest.mark.parametrize("compiler", ["gcc", pytest.param("clang", marks=pytest.mark.compiles)])
def test_header_compiles_alone(header: Path, compiler: str, tmp_path: Path) -> None:
    source = tmp_path / "alone.c"
    source.write_text(f"#include <heapwright/c/{header.name}>\n" * 2 + "int alone;\n")
    include = f"-I{ROOT / 'include'}"
    strict = [*WARNINGS, "-Wpedantic", "-Wconversion", "-fsyntax-only", include]
    driver = tool(*COMPILERS[compiler])
    run(driver, "-std=c11", *strict, source)
    cxx = [flag for flag in strict if flag != "-Wstrict-prototypes"]
    run(driver, "-x", "c++", "-std=c++17", *cxx, source)


def test_the_two_obstack_headers_exclude_each_other(tmp_path: Path) -> None:
    source = tmp_path / "both.c"
    source.write_text("#include <obstack.h>\n#include <heapwright/c/obstack.h>\n")
    command = [tool("gcc"), "-fsyntax-only", f"-I{ROOT / 'include'}", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "include one of them" in done.stderr


def test_the_library_gives_what_the_headers_declare_and_needs_no_cxx(tmp_path: Path) -> None:
    objects = compile_library(tmp_path)
    target = tmp_path / "library.so"
    exports = f"-Wl,--version-script={ROOT / 'native' / 'capi' / 'exports.map'}"
    run(tool("gcc"), "-shared", exports, "-Wl,-z,defs", *objects, "-o", target)
    listed = run(tool("nm"), "-D", "--defined-only", target)
    names = [line.split()[-1].partition("@@") for line in listed.splitlines()]
    given = {name for name, _, version in names if version}
    # The node itself is a symbol, too.
    assert {name for name, *_ in names} - given == {"HEAPWRIGHT_1"}
    assert {version for *_, version in names if version} == {"HEAPWRIGHT_1"}
    declared = set()
    for header in IN_THE_LIBRARY:
        text = re.sub(r"/\*.*?\*/", "", header.read_text(encoding="utf-8"), flags=re.DOTALL)
        text = re.sub(r"^static inline.*?^}", "", text, flags=re.DOTALL | re.MULTILINE)
        text = re.sub(r"^#define(.*\\\n)*.*\n", "", text, flags=re.MULTILINE)
        text = re.sub(r"struct \w+", "", text)
        declared |= set(re.findall(r"\bheapwright_\w+", text))
    assert len(declared) > 25
    assert given == declared
