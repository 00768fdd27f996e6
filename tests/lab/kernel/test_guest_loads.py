# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Loads of the guest, as processes of this machine: a failure ends them with its reason."""

import shutil
import subprocess
from pathlib import Path

import pytest

from heapwright.kernel.folders import guest_sources
from heapwright.kernel.guest import COMPILER

ALONE = Path(__file__).parent / "programs" / "guest_alone.c"
LOADS = ("web", "compile")
MOST = 64
"""Sources that a compilation can have."""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which(COMPILER) is None:
        pytest.skip("no gcc (package gcc)")
    made = tmp_path_factory.mktemp("guest") / "alone"
    sources = [ALONE, *(guest_sources() / f"{name}.c" for name in LOADS)]
    checks = ("-fno-builtin", "-fsanitize=bounds", "-fsanitize-undefined-trap-on-error")
    wrapped = ("-Wl,--wrap=scandir", "-Wl,--wrap=strcpy")
    command = [COMPILER, "-std=gnu11", "-D_GNU_SOURCE", f"-I{guest_sources()}", *checks, *wrapped]
    subprocess.run([*command, *map(str, sources), "-o", str(made)], check=True)
    return made


def run(program: Path, folder: Path, *words: str) -> tuple[int, list[str]]:
    done = subprocess.run(
        [program, *words], cwd=folder, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout.splitlines()


def test_every_client_of_the_web_server_is_served(program: Path, tmp_path: Path) -> None:
    assert run(program, tmp_path, "web") == (0, ["phase phase=served"])
    assert len((tmp_path / "access.log").read_text("utf-8").splitlines()) == 8 * 100


def test_a_worker_of_the_web_server_that_ends_fails_the_load(program: Path, tmp_path: Path) -> None:
    (tmp_path / "access.log").symlink_to("/dev/full")
    assert run(program, tmp_path, "web") == (1, ["failure what=a worker of the web server"])


def test_a_compilation_links_all_its_sources_or_fails(program: Path, tmp_path: Path) -> None:
    status, lines = run(program, tmp_path, "compile", str(MOST))
    assert (status, len(lines)) == (0, MOST + 2)
    assert lines[-2:] == [f"/usr/bin/ld words={4 + MOST}", "phase phase=compiled"]
    assert run(program, tmp_path, "compile", str(MOST + 1)) == (1, ["failure what=/src"])
