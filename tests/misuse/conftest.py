# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The compositions that watch for misuse, each built once as the tool builds a user's own. From the
catalogue, granary as it is and hardened.
"""

import fcntl
import os
import shutil
from pathlib import Path

import pytest

from heapwright.artefacts.allocator.catalogue import ComposedAllocator
from heapwright.base import native
from heapwright.base.errors import HeapwrightError
from heapwright.compose.compiler import find_compiler
from heapwright.compose.library import build_library

COMPOSITIONS = Path(__file__).parent / "compositions"
CATALOGUED = ("granary", "granary-hardened")
WATCHERS = sorted([*CATALOGUED, *(header.stem for header in COMPOSITIONS.glob("*.hpp"))])


def built(name: str, folder: Path) -> Path:
    """The library of a composition, compiled in `folder` against the installed headers."""
    shutil.copy(COMPOSITIONS / f"{name}.hpp", folder)
    try:
        compiler = find_compiler(None, os.environ, folder)
    except HeapwrightError as missing:
        pytest.skip(f"{missing} (package g++)")
    installed = native.native_dir()
    compiler.include = (installed / "include", installed, folder)
    entry = ComposedAllocator(name, f"{name}.hpp", f"heapwright::misuse::{name.title()}", "")
    library, answer = build_library(compiler, installed, folder, entry)
    assert answer.valid, answer.pages
    return library


@pytest.fixture(scope="session")
def watcher_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all the processes that run the tests, so that nothing is compiled twice."""
    mine = tmp_path_factory.getbasetemp()
    shared = mine.parent if "PYTEST_XDIST_WORKER" in os.environ else mine
    folder = shared / "watchers"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session", params=WATCHERS)
def watcher(request: pytest.FixtureRequest, watcher_folder: Path) -> tuple[str, Path]:
    """The name of a composition that watches, and its library."""
    name = str(request.param)
    if name in CATALOGUED:
        return name, native.library(name)
    folder = watcher_folder / name
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = folder / "done"
        if not done.exists():
            built(name, folder)
            done.touch()
    return name, folder / f"libheapwright-{name}.so"
