# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Missing kernels are built only if the disk can hold all of them. A failing build and a failing
boot leave the kernels of the cache as they are.
"""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import NoReturn

import pytest
from typer.testing import CliRunner

from heapwright.artefacts.kernel_study.boot import KernelBoot
from heapwright.base.errors import HeapwrightError
from heapwright.cli.main import app
from heapwright.commands import kernel_boot, kernel_build
from heapwright.kernel import build, folders
from heapwright.kernel.boot import Asked
from heapwright.kernel.build import plan
from heapwright.kernel.image_cache import MADE, Built, find, store
from heapwright.kernel.loads import load_of
from heapwright.kernel.records import GuestError
from heapwright.kernel.source import Source, folder_of
from support.documents import made

SOURCE = Source(Path("linux.tar.xz"), "6.1.1-1")


@pytest.fixture(autouse=True)
def _source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_build, "find_source", lambda: SOURCE)


def cached(allocator: str, cache: Path) -> Built:
    made = cache / "made"
    (made / MADE).parent.mkdir(parents=True, exist_ok=True)
    (made / MADE).write_bytes(b"image")
    (made / ".config").write_text("", encoding="utf-8")
    return store(plan(allocator, SOURCE).key, allocator, SOURCE.version, made, cache)


def test_room_for_all_missing_kernels_is_checked_before_the_first_is_built(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """SLQB has a source of its own. An unpacked source needs no room. Another one is no help."""
    full = SimpleNamespace(f_bavail=1 << 20, f_frsize=1024)
    monkeypatch.setattr(folders, "os", SimpleNamespace(**vars(os) | {"statvfs": lambda _: full}))
    slub = cached("slub", tmp_path)
    with pytest.raises(HeapwrightError, match=r"building 3 kernels needs 3\.0 GiB under"):
        kernel_build.made_kernels(["slub", "slab", "slob", "slqb"], tmp_path, 1)
    (tmp_path / "source" / f"{SOURCE.version}-0").mkdir(parents=True)
    with pytest.raises(HeapwrightError, match=r"building a kernel needs 1\.7 GiB .* 1\.0 GiB are"):
        kernel_build.made_kernels(["slab"], tmp_path, 1)
    folder_of(SOURCE, tmp_path).mkdir()
    kernel_build.need_room_of([plan("slab", SOURCE)], tmp_path)
    assert kernel_build.made_kernels(["slub"], tmp_path, 1) == [slub]


def test_a_build_that_fails_leaves_the_cached_kernels(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    there = [cached(name, tmp_path) for name in ("slub", "slab")]

    def fails(*_: object) -> None:
        raise HeapwrightError("make bzImage failed with status 2")

    monkeypatch.setattr(build, "need_tools", lambda: None)
    monkeypatch.setattr(build, "unpacked", lambda *_: tmp_path)
    monkeypatch.setattr(build, "configure", lambda *_: None)
    monkeypatch.setattr(build, "_make", fails)
    with pytest.raises(HeapwrightError, match="make bzImage failed"):
        kernel_build.made_kernels(["slub"], tmp_path, 1, again=True)
    assert [find(each.key, tmp_path) for each in there] == there


def test_a_boot_that_fails_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left = ["hung", "hung", "booted"]

    def boots(*_: object) -> KernelBoot:
        if left.pop(0) == "hung":
            raise GuestError("the guest was not done", "its last line")
        return made(KernelBoot)

    monkeypatch.setattr(kernel_boot, "boot", boots)
    asked = Asked(load_of("nothing", "small"))
    built = cached("slub", tmp_path)
    with pytest.raises(GuestError, match="was not done"):
        kernel_boot.booted(built, asked, tmp_path, 1)
    assert kernel_boot.booted(built, asked, tmp_path, 2).tries == 2
    assert "try 1 of 2: the guest was not done\nits last line" in capsys.readouterr().err


def test_a_kernel_that_crashes_is_booted_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    boots = []

    def crashes(*_: object) -> NoReturn:
        boots.append(1)
        raise GuestError("the guest died in the middle", "its last line")

    monkeypatch.setattr(kernel_boot, "boot", crashes)
    monkeypatch.setattr(kernel_boot, "cached_kernel", lambda *_: cached("slub", tmp_path))
    result = CliRunner().invoke(app, ["kernel", "boot", "slub", "--load", "nothing"])
    assert isinstance(result.exception, GuestError)
    assert boots == [1]
