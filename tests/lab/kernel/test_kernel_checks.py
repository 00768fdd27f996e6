# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A kernel with a patched allocator passes the kernel's own tests of allocators, and its checks.

The tests are lib/test_meminit.c and those of KFENCE. The checks watch a churn as well. Locks,
lists, freed pages, timers and copies to users are checked while it runs.
"""

import os
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from heapwright.kernel.boot import run_machine
from heapwright.kernel.build import build, plan
from heapwright.kernel.configuration import read_fragment
from heapwright.kernel.folders import kernel_cache, shipped
from heapwright.kernel.guest import initramfs
from heapwright.kernel.image_cache import find
from heapwright.kernel.loads import load_of
from heapwright.kernel.machine import QEMU, Machine
from heapwright.kernel.patch import PATCHED
from heapwright.kernel.source import ARCHIVE, find_source

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not ARCHIVE.is_file(), reason="no source (package linux-source-6.1)"),
    pytest.mark.skipif(shutil.which("flex") is None, reason="no flex (package flex)"),
    pytest.mark.skipif(shutil.which("bison") is None, reason="no bison (package bison)"),
    pytest.mark.skipif(shutil.which("patch") is None, reason="no patch (package patch)"),
    pytest.mark.skipif(shutil.which(QEMU) is None, reason="no qemu (package qemu-system-x86)"),
]
CACHE = kernel_cache(os.environ) / "checks"
"""Apart from the kernels that are measured."""
PATIENCE_S = 3600.0


@pytest.mark.parametrize("allocator", PATCHED)
def test_the_tests_and_checks_of_the_kernel_pass(allocator: str, tmp_path: Path) -> None:
    wanted = plan(allocator, find_source())
    checks = read_fragment(shipped() / "checks.config")
    wanted = replace(wanted, fragments=(*wanted.fragments, checks))
    built = find(wanted.key, CACHE) or build(wanted, CACHE, 2, print)
    archive = tmp_path / "initramfs.gz"
    archive.write_bytes(initramfs(kernel_cache(os.environ), sysbench=False, storage=False))
    load = load_of("churn", "small")
    machine = Machine(
        built.image,
        archive,
        3 * load.memory_mib,
        settings={**load.settings, "load": load.name, "seed": 1},
        words=("loglevel=7",),
    )
    out = run_machine(QEMU, machine, tmp_path, PATIENCE_S)
    assert b'"record":"end"' in out.raw
    lines = (tmp_path / "console.log").read_text("utf-8", errors="replace").splitlines()
    assert any("test_meminit: all " in line and "tests passed!" in line for line in lines)
    assert any(re.search(r"\] ok \d+ (- )?kfence$", line) for line in lines)
    wrong = [line for line in lines if "not ok" in line or "WARNING:" in line or "BUG:" in line]
    assert [line for line in wrong if "BUG: KFENCE:" not in line] == []
