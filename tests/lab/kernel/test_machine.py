# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The machine gets options that repeat to the byte, and nothing of the host's."""

from pathlib import Path

import pytest

from heapwright.base.errors import HeapwrightError
from heapwright.commands.kernel_boot import Request
from heapwright.kernel.machine import QEMU, Machine, command_line, find_qemu, qemu_command

MACHINE = Machine(
    Path("/k/bzImage"), Path("/k/initramfs.gz"), 128, settings={"seed": 7, "load": "x"}
)


def words(machine: Machine) -> list[str]:
    return qemu_command("qemu", machine, Path("/c"), Path("/r"))


def test_one_processor_has_virtual_time() -> None:
    line = " ".join(words(MACHINE))
    assert "-accel tcg,thread=single -icount shift=1,sleep=off -smp 1" in line
    assert "-rtc base=2026-01-01T00:00:00,clock=vm -seed 1" in line
    assert MACHINE.time == "virtual"


def test_several_processors_have_the_time_of_the_host() -> None:
    machine = Machine(Path("/k/bzImage"), Path("/k/i"), 128, cpus=4)
    assert "-icount" not in words(machine)
    assert "tcg,thread=multi" in words(machine)
    assert "4,sockets=4,cores=1,threads=1" in words(machine)
    assert machine.time == "the host's (emulated)"


def test_kvm_is_used_only_where_it_is_asked_for() -> None:
    assert "kvm" not in words(MACHINE)
    machine = Machine(Path("/k/bzImage"), Path("/k/i"), 128, kvm=True)
    assert "kvm" in words(machine)
    assert "-icount" not in words(machine)


def test_the_guest_has_no_disk_and_no_network() -> None:
    line = words(MACHINE)
    assert "-nodefaults" in line
    assert not {"-drive", "-hda", "-netdev", "-nic"} & set(line)


def test_settings_stand_in_a_fixed_order() -> None:
    one = command_line({"seed": 7, "load": "churn"})
    assert one == command_line({"load": "churn", "seed": 7})
    assert one.endswith("heapwright.load=churn heapwright.seed=7")


def test_without_qemu_the_package_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HeapwrightError, match="there is no qemu-system-x86_64") as caught:
        find_qemu()
    assert "qemu-system-x86" in caught.value.hint


def test_an_emulator_that_this_user_cannot_run_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / QEMU).write_text("", encoding="utf-8")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HeapwrightError, match=f"this user cannot run {tmp_path / QEMU}") as caught:
        find_qemu()
    assert "chmod a+rx" in caught.value.hint


def test_a_request_has_the_memory_of_its_load_or_another() -> None:
    assert Request("churn", "small", 1, 1).asked.load.memory_mib == 128
    other = Request("churn", "small", 1, 1, memory_mib=192).asked
    assert (other.load.memory_mib, other.load.name) == (192, "churn")
