# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Busy and quiet machines, made up."""

import pytest

from heapwright.artefacts.checkup.document import Finding
from heapwright.doctor import occupancy

from .conftest import MakeMachine


@pytest.mark.parametrize(
    ("load", "finding"),
    [
        ("0.12 0.1 0.1 1/99 7", Finding.GOOD),
        ("1.00 0.1 0.1 1/99 7", Finding.WARNING),
        ("3.5 9 9 4/99 7", Finding.BAD),
    ],
)
def test_load_is_for_each_processor(machine: MakeMachine, load: str, finding: Finding) -> None:
    check = occupancy.load(machine({"proc/loadavg": load}))
    assert check.finding is finding
    assert bool(check.advice) == (finding is not Finding.GOOD)


def test_load_is_not_guessed(machine: MakeMachine) -> None:
    assert occupancy.load(machine({})).finding is Finding.UNKNOWN


def stat(busy: int, stolen: int) -> str:
    return f"cpu  {busy} 0 0 1000 0 0 0 {stolen} 0 0\ncpu0 1 2 3"


@pytest.mark.parametrize(
    ("before", "now", "finding", "period"),
    [
        ("", stat(1000, 0), Finding.GOOD, "since the start"),
        ("", stat(1000, 50), Finding.WARNING, "since the start"),
        (stat(1000, 0), stat(1100, 30), Finding.BAD, "just now"),
        (stat(1000, 900), stat(1100, 900), Finding.GOOD, "just now"),
        (stat(1000, 900), stat(1001, 900), Finding.BAD, "since the start"),
    ],
)
def test_steal(machine: MakeMachine, before: str, now: str, finding: Finding, period: str) -> None:
    check = occupancy.steal(machine({"proc/stat": now}, earlier_stat=before))
    assert check.finding is finding
    assert check.says.endswith(period)


def test_steal_of_a_kernel_without_it(machine: MakeMachine) -> None:
    assert occupancy.steal(machine({"proc/stat": "cpu 1 2 3"})).finding is Finding.UNKNOWN


@pytest.mark.parametrize(
    ("files", "finding"),
    [
        ({"proc/self/cgroup": "0::/a/b"}, Finding.GOOD),
        ({"proc/self/cgroup": "0::/a/b", "sys/fs/cgroup/a/b/cpu.max": "max 100000"}, Finding.GOOD),
        ({"proc/self/cgroup": "0::/a/b", "sys/fs/cgroup/a/cpu.max": "150000 100000"}, Finding.BAD),
        ({"proc/self/cgroup": "0::/", "sys/fs/cgroup/cpu.max": "800000 100000"}, Finding.NOTE),
        (
            {
                "proc/self/cgroup": "3:cpu,cpuacct:/x\n0::/",
                "sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us": "50000",
                "sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us": "100000",
            },
            Finding.BAD,
        ),
        (
            {
                "proc/self/cgroup": "3:cpu:/x",
                "sys/fs/cgroup/cpu/x/cpu.cfs_quota_us": "-1",
                "sys/fs/cgroup/cpu/x/cpu.cfs_period_us": "100000",
            },
            Finding.GOOD,
        ),
    ],
)
def test_quota_of_the_control_group_or_of_one_around_it(
    machine: MakeMachine, files: dict[str, str], finding: Finding
) -> None:
    check = occupancy.limit(machine(files))
    assert check.finding is finding
    if finding is Finding.BAD:
        assert "runs are stopped in between" in check.says


def pressure(share: float) -> str:
    return f"some avg10=0.0 avg60={share} avg300=0 total=1\nfull avg10=0 avg60=0 avg300=0 total=1"


@pytest.mark.parametrize(
    ("memory", "io", "finding"),
    [(0, 0, Finding.GOOD), (0, 25, Finding.WARNING), (4, 25, Finding.BAD)],
)
def test_stalls(machine: MakeMachine, memory: float, io: float, finding: Finding) -> None:
    files = {"proc/pressure/memory": pressure(memory), "proc/pressure/io": pressure(io)}
    assert occupancy.pressure(machine(files)).finding is finding


def test_stalls_of_an_old_kernel(machine: MakeMachine) -> None:
    assert occupancy.pressure(machine({})).finding is Finding.UNKNOWN
