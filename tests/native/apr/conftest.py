# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The libraries of APR's pools and the programs that try them, compiled from their sources."""

import os
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PROGRAMS = Path(__file__).parent / "programs"
POOLS = ROOT / "native" / "apr"
KINDS = {"reaps": "reaps.cpp", "checked": "checked.cpp", "emulated": "emulated.cpp"}
Build = Callable[..., Path]
Under = Callable[..., subprocess.CompletedProcess[str]]
WARNINGS = ["-Wall", "-Wextra", "-Wshadow", "-Wstrict-prototypes", "-Werror"]


def need(program: str, package: str) -> str:
    return shutil.which(program) or pytest.skip(f"no {program} (package {package})")


@cache
def headers() -> list[str]:
    """What APR's headers want; without them there is nothing to try."""
    words = [need("apr-1-config", "libapr1-dev"), "--cppflags"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    folder = subprocess.run([words[0], "--includedir"], capture_output=True, text=True, check=True)
    return [*done.stdout.split(), "-isystem", folder.stdout.strip()]


def run(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done.stdout


def compiled(kind: str, folder: Path, *options: str) -> Path:
    """The object file of one library."""
    target = folder / f"{kind}.o"
    cxx = ["-std=c++20", "-O1", "-fPIC", "-fno-exceptions", "-fno-rtti", "-fvisibility=hidden"]
    paths = [f"-I{ROOT / 'include'}", f"-I{ROOT / 'native'}", *headers()]
    source = POOLS / KINDS[kind]
    run(need("g++", "g++"), *cxx, *options, *paths, "-c", source, "-o", target)
    return target


@pytest.fixture(scope="session")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """All libraries, as they are preloaded."""
    folder = tmp_path_factory.mktemp("apr")
    made = {}
    for kind in KINDS:
        made[kind] = folder / f"lib{kind}.so"
        exports = [f"-Wl,--version-script={POOLS / 'exports.map'}", "-Wl,-z,defs"]
        objects = compiled(kind, folder)
        run(need("gcc", "gcc"), "-shared", *exports, objects, "-lapr-1", "-o", made[kind])
    return made


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Compiles one of the programs, once for each set of words that it is linked with."""
    folder = tmp_path_factory.mktemp("programs")
    done: dict[tuple[str, ...], Path] = {}

    def make(program: str, *words: str | Path) -> Path:
        key = (program, *map(str, words))
        if key not in done:
            target = folder / f"{program}-{len(done)}"
            source = PROGRAMS / f"{program}.c"
            flags = ["-std=gnu11", "-O1", *WARNINGS, f"-I{ROOT / 'include'}", *headers()]
            libraries = ["-laprutil-1", "-lapr-1", "-pthread"]
            run(need("gcc", "gcc"), *flags, source, *words, *libraries, "-o", target)
            done[key] = target
        return done[key]

    return make


@pytest.fixture(scope="session")
def under() -> Under:
    """Runs a program with a library loaded before all others, or with none."""

    def go(library: Path | None, *command: str | Path) -> subprocess.CompletedProcess[str]:
        preload = {} if library is None else {"LD_PRELOAD": str(library)}
        env = {**os.environ, **preload, "LC_ALL": "C"}
        return subprocess.run(command, capture_output=True, text=True, check=False, env=env)

    return go
