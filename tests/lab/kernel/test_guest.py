# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The guest's first process compiles, once, and runs as the first process alone."""

import gzip
import shutil
import subprocess
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from heapwright.base.errors import HeapwrightError
from heapwright.kernel import guest


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which(guest.COMPILER) is None:
        pytest.skip("no gcc (package gcc)")
    return tmp_path_factory.mktemp("cache")


def test_init_is_static_and_leaves_at_once_where_it_is_not_the_first(cache: Path) -> None:
    init = guest.compiled_init(cache)
    assert subprocess.run([init], check=False).returncode == 2
    with init.open("rb") as file:
        kinds = [segment["p_type"] for segment in ELFFile(file).iter_segments()]
    assert "PT_INTERP" not in kinds


def test_init_is_compiled_once(cache: Path) -> None:
    init = guest.compiled_init(cache)
    before = init.stat().st_ino
    assert guest.compiled_init(cache).stat().st_ino == before
    assert [path.name for path in init.parent.iterdir()] == [init.name]


def test_the_archive_is_the_same_each_time_and_has_init_and_a_console(cache: Path) -> None:
    one = guest.initramfs(cache, guest.Programs())
    assert one == guest.initramfs(cache, guest.Programs())
    archive = gzip.decompress(one)
    assert b"init\0" in archive
    assert b"dev/console\0" in archive


def test_an_init_that_does_not_compile_leaves_nothing(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "init.c").write_text("int main(void) { return x; }\n", "utf-8")
    monkeypatch.setattr(guest, "guest_sources", lambda: tmp_path)
    there = set(cache.rglob("*"))
    with pytest.raises(HeapwrightError, match="could not be compiled"):
        guest.compiled_init(cache)
    assert set(cache.rglob("*")) == there
