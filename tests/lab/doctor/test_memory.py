# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Memory of many kinds, made up."""

from pathlib import Path

import pytest

from heapwright.artefacts.checkup.document import Finding
from heapwright.doctor import memory

from .conftest import MakeMachine


def meminfo(available: int = 8 << 20, swap: int = 0, swap_free: int = 0) -> dict[str, str]:
    lines = {
        "MemTotal": 16 << 20,
        "MemAvailable": available,
        "SwapTotal": swap,
        "SwapFree": swap_free,
    }
    return {"proc/meminfo": "\n".join(f"{name}: {kib} kB" for name, kib in lines.items())}


@pytest.mark.parametrize(
    ("total", "free", "finding"),
    [
        (0, 0, Finding.GOOD),
        (1 << 20, 1 << 20, Finding.NOTE),
        (1 << 20, 0, Finding.WARNING),
    ],
)
def test_swap(machine: MakeMachine, total: int, free: int, finding: Finding) -> None:
    check = memory.swap(machine(meminfo(swap=total, swap_free=free)))
    assert check.finding is finding
    assert ("swapoff" in check.advice) == (total > 0)


@pytest.mark.parametrize(
    ("value", "personality", "finding"),
    [
        ("2", "00000000", Finding.GOOD),
        ("2", "00040000", Finding.WARNING),
        ("0", "", Finding.WARNING),
        ("2", "", Finding.GOOD),
    ],
)
def test_layout(machine: MakeMachine, value: str, personality: str, finding: Finding) -> None:
    files = {memory.LAYOUT: value}
    if personality:
        files["proc/self/personality"] = personality
    assert memory.layout(machine(files)).finding is finding


@pytest.mark.parametrize(
    ("modes", "finding"),
    [
        ("[always] madvise never", Finding.WARNING),
        ("always [madvise] never", Finding.GOOD),
        ("always madvise [never]", Finding.NOTE),
        ("", Finding.UNKNOWN),
    ],
)
def test_huge_pages(machine: MakeMachine, modes: str, finding: Finding) -> None:
    assert memory.huge_pages(machine({memory.HUGE_PAGES: modes})).finding is finding


def test_free_memory_and_the_limit_of_the_group(machine: MakeMachine) -> None:
    assert memory.free_memory(machine(meminfo())).finding is Finding.GOOD
    assert memory.free_memory(machine(meminfo(available=1000))).finding is Finding.WARNING
    group = {"proc/self/cgroup": "0::/a", "sys/fs/cgroup/a/memory.max": str(512 << 20)}
    check = memory.free_memory(machine({**meminfo(), **group}))
    assert check.finding is Finding.WARNING
    assert "512 MiB allowed" in check.says
    wide = {"proc/self/cgroup": "0::/a", "sys/fs/cgroup/a/memory.max": "max"}
    assert "allowed" not in memory.free_memory(machine({**meminfo(), **wide})).says


@pytest.mark.parametrize(
    ("files", "finding"),
    [
        ({}, Finding.GOOD),
        ({"proc/sys/vm/overcommit_memory": "2"}, Finding.WARNING),
        ({"proc/self/limits": "Max address space  unlimited  unlimited  bytes"}, Finding.GOOD),
        ({"proc/self/limits": "Max address space  1000000  unlimited  bytes"}, Finding.WARNING),
    ],
)
def test_reserving(machine: MakeMachine, files: dict[str, str], finding: Finding) -> None:
    assert memory.reservations(machine(files)).finding is finding


@pytest.mark.parametrize(
    ("free", "finding"),
    [(1 << 40, Finding.GOOD), (1000, Finding.WARNING), (0, Finding.BAD), (None, Finding.UNKNOWN)],
)
def test_disk(machine: MakeMachine, free: int | None, finding: Finding) -> None:
    folders = (Path("/a"), Path("/b"))
    room = {folders[0]: 1 << 41 if free is not None else None, folders[1]: free}
    check = memory.disk(machine({}, folders=folders, free=room.get))
    assert check.finding is finding
    if free is not None:
        assert "/b" in check.says
