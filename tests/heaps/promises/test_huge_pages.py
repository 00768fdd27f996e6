# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Huge pages: where they are requested, and how much memory they may cost."""

import json
import subprocess
from pathlib import Path

import pytest

from .building import compiled
from .conftest import preloaded

MIB = 64
SUPPORTED = Path("/sys/kernel/mm/transparent_hugepage").exists()


@pytest.fixture(scope="module")
def huge(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """programs/huge.c, compiled."""
    return compiled(tmp_path_factory.mktemp("huge"), "huge.c")


def measured(huge: Path, allocator: str, setting: str, size: int, written: int) -> dict[str, int]:
    done = subprocess.run(
        [huge, str(MIB), str(size), str(written)],
        env=preloaded(allocator, HEAPWRIGHT_GRANARY=setting),
        capture_output=True,
        text=True,
        check=True,
    )
    figures: dict[str, int] = json.loads(done.stdout)
    return figures


def test_dense_memory_has_huge_pages_until_it_is_purged(granary: str, huge: Path) -> None:
    on = measured(huge, granary, "huge-pages=on", 1000, 1000)
    off = measured(huge, granary, "huge-pages=off", 1000, 1000)
    assert (on["requested"] > MIB << 8) is SUPPORTED  # a quarter of the memory
    assert off["requested"] == 0
    assert on["after"] == 0
    assert on["resident"] <= off["resident"] * 9 / 8


def test_sparse_memory_has_ordinary_pages(granary: str, huge: Path) -> None:
    on = measured(huge, granary, "huge-pages=on", 28000, 1)
    off = measured(huge, granary, "huge-pages=off", 28000, 1)
    assert on["requested"] == 0
    assert on["resident"] <= off["resident"] * 9 / 8
