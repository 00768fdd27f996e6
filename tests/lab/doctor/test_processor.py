# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Processors of many kinds, made up."""

import pytest

from heapwright.artefacts.checkup.document import Finding
from heapwright.doctor import processor

from .conftest import MakeMachine

CPU = "sys/devices/system/cpu"
SOURCE = "sys/devices/system/clocksource/clocksource0"


@pytest.mark.parametrize(
    ("governors", "finding"),
    [
        ([], Finding.UNKNOWN),
        (["performance", "performance"], Finding.GOOD),
        (["performance", "powersave"], Finding.WARNING),
        (["schedutil"], Finding.WARNING),
    ],
)
def test_governor(machine: MakeMachine, governors: list[str], finding: Finding) -> None:
    files = {f"{CPU}/cpu{n}/cpufreq/scaling_governor": each for n, each in enumerate(governors)}
    check = processor.governor(machine(files))
    assert check.finding is finding
    assert bool(check.advice) == (finding is Finding.WARNING)
    assert all(each in check.says for each in governors)


@pytest.mark.parametrize(
    ("files", "finding", "advice"),
    [
        ({}, Finding.UNKNOWN, ""),
        ({f"{CPU}/intel_pstate/no_turbo": "1"}, Finding.GOOD, ""),
        ({f"{CPU}/intel_pstate/no_turbo": "0"}, Finding.WARNING, "echo 1"),
        ({f"{CPU}/cpufreq/boost": "0"}, Finding.GOOD, ""),
        ({f"{CPU}/cpufreq/boost": "1"}, Finding.WARNING, "echo 0"),
    ],
)
def test_turbo(machine: MakeMachine, files: dict[str, str], finding: Finding, advice: str) -> None:
    check = processor.turbo(machine(files))
    assert check.finding is finding
    assert check.advice.startswith(advice)


def test_threads_of_a_core(machine: MakeMachine) -> None:
    assert processor.hyperthreads(machine({})).finding is Finding.UNKNOWN
    assert processor.hyperthreads(machine({f"{CPU}/smt/active": "0"})).finding is Finding.GOOD
    files = {f"{CPU}/smt/active": "1"}
    for cpu, pair in enumerate(("0,2", "1,3", "0,2", "1,3")):
        files[f"{CPU}/cpu{cpu}/topology/thread_siblings_list"] = pair
    check = processor.hyperthreads(machine(files))
    assert check.finding is Finding.NOTE
    assert "--pin 0,1 " in check.advice
    part = processor.hyperthreads(machine(files, cpus=frozenset({2, 3})))
    assert "--pin 2,3 " in part.advice


def test_heat(machine: MakeMachine) -> None:
    name = f"{CPU}/cpu{{}}/thermal_throttle/core_throttle_count"
    assert processor.throttling(machine({})).finding is Finding.UNKNOWN
    assert processor.throttling(machine({name.format(0): "0"})).finding is Finding.GOOD
    hot = processor.throttling(machine({name.format(0): "3", name.format(1): "4"}))
    assert hot.finding is Finding.NOTE
    assert "7 times" in hot.says


@pytest.mark.parametrize(
    ("online", "finding"),
    [([], Finding.GOOD), (["0"], Finding.WARNING), (["0", "1"], Finding.GOOD)],
)
def test_power(machine: MakeMachine, online: list[str], finding: Finding) -> None:
    files = {f"sys/class/power_supply/AC{n}/online": text for n, text in enumerate(online)}
    assert processor.power(machine(files)).finding is finding


def test_processors_that_are_ours(machine: MakeMachine) -> None:
    files = {f"{CPU}/online": "0-7"}
    check = processor.available(machine(files))
    assert (check.finding, check.says) == (Finding.GOOD, "4 of 8")
    assert processor.available(machine(files, cpus=frozenset({5}))).finding is Finding.WARNING
    nodes = {f"sys/devices/system/node/node{n}/cpulist": "0-3" for n in range(2)}
    far = processor.available(machine({**files, **nodes}))
    assert far.finding is Finding.NOTE
    assert "2 memory nodes" in far.says


def test_virtual_machines(machine: MakeMachine) -> None:
    real = processor.virtual(machine({"proc/cpuinfo": "flags\t\t: fpu sse2"}))
    assert (real.finding, real.says) == (Finding.GOOD, "not virtual")
    guest = processor.virtual(machine({"proc/cpuinfo": "flags\t: fpu hypervisor"}))
    assert guest.finding is Finding.NOTE
    assert guest.says.startswith("virtual: ")


@pytest.mark.parametrize(
    ("source", "finding", "advice"),
    [
        ("tsc", Finding.GOOD, ""),
        ("arch_sys_counter", Finding.GOOD, ""),
        ("hpet", Finding.WARNING, "echo tsc | sudo tee"),
    ],
)
def test_clock(machine: MakeMachine, source: str, finding: Finding, advice: str) -> None:
    files = {
        f"{SOURCE}/current_clocksource": source,
        f"{SOURCE}/available_clocksource": "tsc hpet acpi_pm",
    }
    check = processor.clock(machine(files))
    assert check.finding is finding
    assert check.advice.startswith(advice)


def test_a_clock_that_the_kernel_distrusts_cannot_be_chosen(machine: MakeMachine) -> None:
    files = {
        f"{SOURCE}/current_clocksource": "acpi_pm",
        f"{SOURCE}/available_clocksource": "hpet acpi_pm",
    }
    assert "distrusts" in processor.clock(machine(files)).advice


@pytest.mark.parametrize(
    ("text", "cpus"),
    [("", set()), ("0-3,8", {0, 1, 2, 3, 8}), ("5", {5}), ("x,-2", set()), ("1,x,3", {1, 3})],
)
def test_lists_of_processors(text: str, cpus: set[int]) -> None:
    assert processor.parse_cpus(text) == cpus
