# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What is written about the machine is what the machine says."""

import hashlib
import os
import platform
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from heapwright import __version__
from heapwright.artefacts.run.provenance import (
    Allocator,
    Environment,
    Kind,
    inherited_settings,
    package_version,
    read_environment,
    sha256_of,
)


def test_the_machine_is_described() -> None:
    glibc = Allocator(name="glibc", kind=Kind.SYSTEM)
    environment = read_environment([glibc], {"MALLOC_CONF": "narenas:1", "HOME": "/"})
    assert environment.host == platform.node()
    assert platform.release() in environment.kernel
    assert environment.cpus == len(os.sched_getaffinity(0))
    assert environment.memory_bytes > 2**20
    assert environment.heapwright == __version__
    assert environment.clock
    assert environment.settings == {"MALLOC_CONF": "narenas:1"}
    assert environment.allocators == [glibc]
    age = datetime.now(UTC) - datetime.fromisoformat(environment.date)
    assert abs(age) < timedelta(minutes=5)


def test_it_comes_back_from_json_unchanged() -> None:
    environment = read_environment([Allocator(name="x", kind=Kind.FILE, path="/x.so")], {})
    assert Environment.model_validate_json(environment.model_dump_json()) == environment


def test_only_variables_that_bear_on_malloc_are_kept() -> None:
    mine = {"LD_PRELOAD": "a", "GLIBC_TUNABLES": "b", "MIMALLOC_VERBOSE": "1", "PATH": "/bin"}
    assert list(inherited_settings(mine)) == ["GLIBC_TUNABLES", "LD_PRELOAD", "MIMALLOC_VERBOSE"]


@pytest.mark.parametrize(
    "name",
    ["PYTHONMALLOC", "MALLOC_CONF", "RJEM_MALLOC_CONF", "MALLOC_ARENA_MAX", "SCUDO_OPTIONS"],
)
def test_settings_of_allocators_are_known_by_name(name: str) -> None:
    assert inherited_settings({name: "x", "NGINX_CONF": "y", "_RJEM_MALLOC_CONF": "z"}) == {
        name: "x"
    }


def test_the_hash_is_that_of_the_bytes(tmp_path: Path) -> None:
    (tmp_path / "x.so").write_bytes(b"abc")
    assert sha256_of(tmp_path / "x.so") == hashlib.sha256(b"abc").hexdigest()
    assert sha256_of(tmp_path / "none.so") == ""


@pytest.mark.skipif(not shutil.which("dpkg-query"), reason="dpkg-query is not installed")
def test_the_distribution_knows_its_own_files(tmp_path: Path) -> None:
    tool = shutil.which("dpkg-query")
    assert tool is not None
    name, _, version = package_version(Path(tool)).partition(" ")
    assert name == "dpkg"
    assert version[0].isdigit()
    assert package_version(tmp_path / "nobodys.so") == ""
