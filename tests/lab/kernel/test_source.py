# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The distribution's kernel source, freshly unpacked, takes the configuration of every kernel.

A package that reads a file which unpacking leaves out fails here, not after minutes of building. So
does a package that a patch does not fit.
"""

import shutil
from pathlib import Path

import pytest

from heapwright.kernel.build import configure, plan
from heapwright.kernel.checks import check_fragments
from heapwright.kernel.configuration import read_fragments
from heapwright.kernel.folders import ALLOCATORS, shipped
from heapwright.kernel.patch import PATCHED, REPLAY, apply_patch, find_patch, patch_of
from heapwright.kernel.replay import replay_plan
from heapwright.kernel.source import ARCHIVE, find_source, unpacked

pytestmark = [
    pytest.mark.programs,
    pytest.mark.long,
    pytest.mark.skipif(not ARCHIVE.is_file(), reason="no source (package linux-source-6.1)"),
    pytest.mark.skipif(shutil.which("flex") is None, reason="no flex (package flex)"),
    pytest.mark.skipif(shutil.which("bison") is None, reason="no bison (package bison)"),
    pytest.mark.skipif(shutil.which("patch") is None, reason="no patch (package patch)"),
]


def test_a_freshly_unpacked_source_takes_every_configuration(tmp_path: Path) -> None:
    source = unpacked(find_source(), tmp_path / "cache")
    assert (source / "arch" / "arm" / "Kconfig").is_file()
    assert not list((source / "arch" / "arm").rglob("*.c"))
    for allocator in sorted(ALLOCATORS, key=lambda name: name in PATCHED):
        if (patch := patch_of(allocator)) is not None:
            apply_patch(patch, source)
        folder = tmp_path / allocator
        folder.mkdir()
        fragments = read_fragments(shipped(), allocator)
        configure(fragments, source, folder)
        config = (folder / ".config").read_text("utf-8")
        assert f"CONFIG_{allocator.upper()}=y" in config.splitlines()
        configure((*fragments, *check_fragments(allocator)), source, folder)
    apply_patch(find_patch(REPLAY), source)
    configure(replay_plan(plan(PATCHED[0], find_source())).fragments, source, folder)
    shutil.rmtree(source)
