# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The libraries of APR's pools themselves: what they give, what they need, what they leave behind.

Under the sanitizers the library is part of the program, which is found before APR's own. With the
emulated pools every object is one that the address sanitizer knows. It sees each object that is
never freed or used too late.
"""

import os
import re
import subprocess
from pathlib import Path

import pytest

from .conftest import KINDS, ROOT, Build, compiled, need, run

SANITIZERS = ["-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g"]
THREAD_SANITIZER = ["-fsanitize=thread", "-g"]
PROGRAMS = ["cleanups", "pools", "nodes", "brigades", "threads", "single_frees", "histories"]
OF_POOLS = re.compile(
    r"apr_(pool_\w+|allocator_\w+|palloc|palloc_debug|pcalloc|pcalloc_debug|psprintf|pvsprintf)"
)


def given(library: str | Path) -> set[str]:
    lines = run(need("nm", "binutils"), "-D", "--defined-only", library).splitlines()
    return {line.split()[-1].partition("@")[0] for line in lines}


@pytest.mark.parametrize("kind", KINDS)
def test_serves_all_that_the_distribution_exports(kind: str, libraries: dict[str, Path]) -> None:
    stock = run(need("gcc", "gcc"), "-print-file-name=libapr-1.so").strip()
    of_pools = {name for name in given(stock) if OF_POOLS.fullmatch(name)}
    assert len(of_pools) >= 40
    assert given(libraries[kind]) == of_pools | {"apr_pfree"}


@pytest.mark.parametrize("kind", KINDS)
def test_needs_no_cxx_runtime(kind: str, libraries: dict[str, Path]) -> None:
    dynamic = run(need("readelf", "binutils"), "-d", libraries[kind])
    needed = set(re.findall(r"\(NEEDED\).*\[(\S+)\]", dynamic))
    assert {name.partition(".")[0] for name in needed} <= {"libapr-1", "libc", "ld-linux-x86-64"}


@pytest.mark.parametrize("compiler", ["gcc", "g++"])
def test_the_header_compiles_alone(compiler: str, tmp_path: Path) -> None:
    language = "c" if compiler == "gcc" else "c++"
    source = tmp_path / "alone.c"
    source.write_text("#include <heapwright/c/apr.h>\n" * 2 + "int alone;\n", encoding="utf-8")
    strict = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", f"-I{ROOT / 'include'}"]
    run(need(compiler, compiler), "-x", language, *strict, source)


@pytest.fixture(scope="module", params=["emulated", "reaps"])
def sanitized(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    kind = str(request.param)
    return compiled(kind, tmp_path_factory.mktemp("sanitized"), *SANITIZERS)


@pytest.mark.parametrize("program", PROGRAMS)
def test_under_sanitizers(program: str, sanitized: Path, build: Build) -> None:
    made = build(program, sanitized, *SANITIZERS)
    assert {"apr_palloc", "apr_pool_destroy"} <= given(made)  # so APR's own calls come here too
    options = {"ASAN_OPTIONS": "allocator_may_return_null=1:detect_stack_use_after_return=0"}
    env = {**os.environ, **options, "LC_ALL": "C"}
    done = subprocess.run([made, "4"], capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stderr
    assert not re.search("ERROR|runtime error", done.stderr), done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_threads_do_not_race(kind: str, tmp_path: Path, build: Build) -> None:
    made = build("threads", compiled(kind, tmp_path, *THREAD_SANITIZER), *THREAD_SANITIZER)
    done = subprocess.run([made], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "cleanups 6400 of 6400\n"), done.stderr
