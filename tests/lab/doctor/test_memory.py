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
    assert "a control group allows 512 MiB" in check.says
    wide = {"proc/self/cgroup": "0::/a", "sys/fs/cgroup/a/memory.max": "max"}
    assert "allows" not in memory.free_memory(machine({**meminfo(), **wide})).says


V2 = "sys/fs/cgroup/a"
V1 = "sys/fs/cgroup/memory/x"


@pytest.mark.parametrize(
    ("groups", "files", "finding", "words"),
    [
        (
            "0::/a/b",
            {f"{V2}/memory.max": 4 << 30},
            Finding.NOTE,
            "allows 4.0 GiB, 0 B of it in use",
        ),
        (
            "0::/a",
            {f"{V2}/memory.max": 4 << 30, f"{V2}/memory.current": 7 << 29},
            Finding.WARNING,
            "3.5 GiB of it in use",
        ),
        (
            "0::/a",
            {
                f"{V2}/memory.max": 4 << 30,
                f"{V2}/memory.current": 7 << 29,
                f"{V2}/memory.stat": f"anon 5\ninactive_file {3 << 30}",
            },
            Finding.NOTE,
            "512 MiB of it in use",
        ),
        ("0::/a", {f"{V2}/memory.high": 3 << 30}, Finding.NOTE, "above 3.0 GiB the kernel slows"),
        (
            "0::/a",
            {f"{V2}/memory.high": 3 << 30, f"{V2}/memory.current": 3 << 30},
            Finding.WARNING,
            "above 3.0 GiB",
        ),
        (
            "4:memory:/x\n0::/",
            {
                f"{V1}/memory.limit_in_bytes": 2 << 30,
                f"{V1}/memory.usage_in_bytes": 1 << 30,
                f"{V1}/memory.stat": f"inactive_file 0\ntotal_inactive_file {1 << 29}",
            },
            Finding.NOTE,
            "allows 2.0 GiB, 512 MiB of it in use",
        ),
        (
            "4:memory:/docker/0123\n0::/",
            {"sys/fs/cgroup/memory/memory.limit_in_bytes": 2 << 30},
            Finding.NOTE,
            "allows 2.0 GiB",
        ),
        (
            "4:memory:/x",
            {f"{V1}/memory.limit_in_bytes": 0x7FFFFFFFFFFFF000},
            Finding.GOOD,
            "available",
        ),
    ],
)
def test_limits_of_memory_in_both_versions_of_control_groups(
    machine: MakeMachine, groups: str, files: dict[str, object], finding: Finding, words: str
) -> None:
    texts = {name: str(value) for name, value in files.items()}
    check = memory.free_memory(machine({**meminfo(), "proc/self/cgroup": groups, **texts}))
    assert check.finding is finding, check.says
    assert words in check.says
    assert ("outcome" in check.advice) == (finding is Finding.NOTE)


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
