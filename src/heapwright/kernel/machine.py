# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The emulated machine: one processor whose time is its instructions, or several that are noisy.

With one processor time is virtual: an instruction takes two nanoseconds, the clock stops between
instructions, and the host does not affect the guest. A boot then repeats to the byte. (A second
processor hangs in this mode when it is brought up. A disk of the host, a clock of the host or a
variable shift break it.) With more processors each is a thread of the host, time is the host's, and
only counts can be compared. KVM is used only where it was seen to run a guest.
"""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from heapwright.base.errors import HeapwrightError

QEMU = "qemu-system-x86_64"
PACKAGE = "qemu-system-x86"
DATE = "2026-01-01T00:00:00"
QUIET = ("console=ttyS0", "panic=-1", "oops=panic", "loglevel=4", "tsc=reliable", "rdinit=/init")
MOST_CPUS = 8
SHIFT = 1
NS_OF_INSTRUCTION = 1 << SHIFT
"""In virtual time."""
VIRTUAL = "virtual"


@dataclass(frozen=True, slots=True)
class Machine:
    """What is booted, and how."""

    image: Path
    initramfs: Path
    memory_mib: int
    cpus: int = 1
    kvm: bool = False
    settings: Mapping[str, str | int] | None = None
    words: tuple[str, ...] = ()
    """For the kernel itself."""

    @property
    def time(self) -> str:
        """What the guest's clock is made of."""
        if self.kvm:
            return "the host's (KVM)"
        return VIRTUAL if self.cpus == 1 else "the host's (emulated)"


def find_qemu() -> str:
    """Raises HeapwrightError that says what to install."""
    if found := shutil.which(QEMU):
        return found
    if there := shutil.which(QEMU, mode=os.F_OK):
        raise HeapwrightError(f"this user cannot run {there}", f"sudo chmod a+rx {there}")
    raise HeapwrightError(f"there is no {QEMU}", f"sudo apt-get install {PACKAGE}")


def qemu_version(qemu: str) -> str:
    done = subprocess.run([qemu, "--version"], capture_output=True, text=True, check=False)
    return (done.stdout.splitlines() or [""])[0]


def command_line(settings: Mapping[str, str | int], words: Sequence[str] = ()) -> str:
    """The kernel's options, then those of init, in a fixed order."""
    told = (f"heapwright.{name}={settings[name]}" for name in sorted(settings))
    return " ".join([*QUIET, *words, *told])


def sockets(cpus: int) -> str:
    """Each processor in a socket of its own: the table that a kernel without ACPI finds them in has
    one line a socket."""
    return f"{cpus},sockets={cpus},cores=1,threads=1"


def accelerator(machine: Machine) -> Sequence[str]:
    """What stands for the processor, and for time."""
    if machine.kvm:
        return ("-accel", "kvm", "-cpu", "host", "-smp", sockets(machine.cpus))
    if machine.cpus == 1:
        return (
            *("-accel", "tcg,thread=single", "-icount", f"shift={SHIFT},sleep=off", "-smp", "1"),
            *("-rtc", f"base={DATE},clock=vm", "-seed", "1"),
        )
    return ("-accel", "tcg,thread=multi", "-smp", sockets(machine.cpus))


def qemu_command(qemu: str, machine: Machine, console: Path, records: Path) -> list[str]:
    """The whole command. The guest sees no disk, no network and nothing else of the host."""
    return [
        qemu,
        *("-machine", "pc", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"),
        *accelerator(machine),
        *("-m", str(machine.memory_mib)),
        *("-kernel", str(machine.image), "-initrd", str(machine.initramfs)),
        *("-append", command_line(machine.settings or {}, machine.words)),
        *("-serial", f"file:{console}", "-serial", f"file:{records}"),
    ]
