# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A patch is applied to a source of its own, as a whole, and is part of a kernel's name."""

import hashlib
import shutil
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from heapwright.base.errors import HeapwrightError
from heapwright.kernel.build import plan
from heapwright.kernel.patch import (
    PATCHED,
    REPLAY,
    Patch,
    apply_patch,
    find_patch,
    patch_of,
)
from heapwright.kernel.source import Source, remove_unpacked, unpacked

BEFORE = "one\ntwo\n"
AFTER = "one\n2\n"
TEXT = "--- a/mm/file\n+++ b/mm/file\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"

pytestmark = pytest.mark.skipif(shutil.which("patch") is None, reason="no patch (package patch)")


@pytest.fixture
def patch(tmp_path: Path) -> Patch:
    path = tmp_path / "some.patch"
    path.write_text(TEXT, encoding="utf-8")
    return Patch(path, hashlib.sha256(TEXT.encode()).hexdigest())


@pytest.fixture
def source(tmp_path: Path) -> Source:
    file = tmp_path / "linux" / "mm" / "file"
    file.parent.mkdir(parents=True)
    file.write_text(BEFORE, encoding="utf-8")
    archive = tmp_path / "linux.tar.xz"
    with tarfile.open(archive, "w:xz") as tar:
        tar.add(tmp_path / "linux", "linux")
    return Source(archive, "6.1.0-1")


def test_sources_with_and_without_a_patch_lie_apart(
    tmp_path: Path, source: Source, patch: Patch
) -> None:
    plain = unpacked(source, tmp_path)
    patched = unpacked(source, tmp_path, patch)
    assert (plain / "mm" / "file").read_text("utf-8") == BEFORE
    assert (patched / "mm" / "file").read_text("utf-8") == AFTER
    assert unpacked(source, tmp_path, patch) == patched
    assert set(remove_unpacked(source, tmp_path)) == {plain, patched}
    assert not plain.exists()
    assert not patched.exists()


def test_a_source_that_a_patch_does_not_fit_is_refused_and_not_kept(
    tmp_path: Path, source: Source, patch: Patch
) -> None:
    patch.path.write_text(TEXT.replace("-two", "-three"), encoding="utf-8")
    with pytest.raises(HeapwrightError, match=r"does not fit this source: .*FAILED"):
        unpacked(source, tmp_path, patch)
    assert list((tmp_path / "source").iterdir()) == []


def test_a_patch_is_not_applied_twice(tmp_path: Path, patch: Patch) -> None:
    (tmp_path / "mm").mkdir()
    (tmp_path / "mm" / "file").write_text(BEFORE, encoding="utf-8")
    apply_patch(patch, tmp_path)
    with pytest.raises(HeapwrightError, match="does not fit"):
        apply_patch(patch, tmp_path)
    assert (tmp_path / "mm" / "file").read_text("utf-8") == AFTER


def test_a_kernel_is_named_by_its_patch(source: Source) -> None:
    assert patch_of("slub") is None
    made = plan(PATCHED[0], source)
    (patch,) = made.patches
    other = replace(made, patches=(Patch(patch.path, "0"),))
    without = replace(made, patches=())
    assert len({made.key, other.key, without.key}) == 3
    assert all(each.key.startswith("slqb-6.1.0-1-") for each in (made, other, without))


def test_each_patch_states_the_licence_of_the_kernel() -> None:
    for name in (*PATCHED, REPLAY):
        patch = find_patch(name)
        text = patch.path.read_text("utf-8")
        added = [part for part in text.split("\n--- ") if "\n@@ -0,0 +1," in part]
        assert added
        assert all("SPDX-License-Identifier: GPL-2.0" in part for part in added)
        assert "GNU GENERAL PUBLIC LICENSE" in (patch.path.parent / "COPYING").read_text("utf-8")
