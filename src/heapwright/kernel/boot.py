# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Boots a kernel under a load and reads what it recorded; nothing is left behind."""

import hashlib
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from heapwright.artefacts.kernel_study.boot import Kernel, KernelBoot
from heapwright.base.errors import HeapwrightError
from heapwright.base.scratch import Scratch
from heapwright.kernel.archive import Entry
from heapwright.kernel.guest import Programs, initramfs
from heapwright.kernel.image_cache import Built
from heapwright.kernel.loads import Load
from heapwright.kernel.machine import Machine, find_qemu, qemu_command, qemu_version
from heapwright.kernel.processes import last_lines, running
from heapwright.kernel.records import GuestError, Records, read_records, responses

KVM = Path("/dev/kvm")
KVM_PATIENCE_S = 30.0
TOLD = 15


@dataclass(frozen=True, slots=True)
class Asked:
    """The options of a boot."""

    load: Load
    seed: int = 1
    cpus: int = 1
    kvm: bool = False
    timeout_s: float | None = None


@dataclass(frozen=True, slots=True)
class BootOutput:
    """What came out of the machine."""

    raw: bytes
    console: tuple[str, ...]


def boot(built: Built, asked: Asked, cache: Path) -> KernelBoot:
    """Raises HeapwrightError where it does not end well; GuestError has the console's end."""
    machine, taken = ran(built, asked, cache)
    records = read_records(taken.raw, taken.console)
    check_guest(records, built, asked)
    load = asked.load
    return KernelBoot(
        kernel=kernel_of(built),
        load=load.name,
        scale=load.scale,
        seed=asked.seed,
        cpus=asked.cpus,
        memory_mib=load.memory_mib,
        settings=dict(machine.settings or {}),
        time=machine.time,
        emulator=qemu_version(find_qemu()),
        records_sha256=hashlib.sha256(taken.raw).hexdigest(),
        samples=tuple(records.samples),
        paths=tuple(records.paths),
        phases=tuple(records.phases),
        output=tuple(records.output),
        responses=responses(records),
    )


def kernel_of(built: Built) -> Kernel:
    """The kernel as documents name it."""
    return Kernel(
        key=built.key, allocator=built.allocator, version=built.version, sha256=built.sha256
    )


@dataclass(frozen=True, slots=True)
class MachineExtras:
    """What a machine has besides what its load wants."""

    words: tuple[str, ...] = ()
    """For the kernel."""
    memory_mib: int = 0
    settings: Mapping[str, int] = field(default_factory=dict)
    """For init."""
    files: Mapping[str, Entry] = field(default_factory=dict)
    """Among the guest's first files."""


def ran(
    built: Built, asked: Asked, cache: Path, beside: MachineExtras | None = None
) -> tuple[Machine, BootOutput]:
    """A machine that was run to its end, and what came out of it. Raises HeapwrightError."""
    qemu = find_qemu()
    load = asked.load
    beside = beside or MachineExtras()
    settings: dict[str, str | int] = {**load.settings, **beside.settings}
    settings |= {"load": load.name, "seed": asked.seed}
    with Scratch() as scratch:
        archive = scratch / "initramfs.gz"
        programs = Programs(load.sysbench, load.storage, load.compiler)
        archive.write_bytes(initramfs(cache, programs, beside.files))
        machine = Machine(
            built.image,
            archive,
            load.memory_mib + beside.memory_mib,
            asked.cpus,
            kvm=asked.kvm,
            settings=settings,
            words=beside.words,
        )
        if asked.kvm:
            prove_kvm(qemu, machine, scratch)
        taken = run_machine(qemu, machine, scratch, asked.timeout_s or load.timeout_s)
    return machine, taken


def run_machine(qemu: str, machine: Machine, folder: Path, timeout_s: float) -> BootOutput:
    """Run it to its end. Raises GuestError where it goes on for too long or fails, and
    HeapwrightError where this user cannot run the emulator."""
    console, records = folder / "console.log", folder / "records.log"
    said = folder / "qemu.log"
    for path in (console, records, said):
        path.write_bytes(b"")
    try:
        with running(qemu_command(qemu, machine, console, records), said) as process:
            status = process.wait(timeout_s)
    except subprocess.TimeoutExpired:
        lines = last_lines(console, TOLD)
        raise GuestError(
            f"the guest was not done after {timeout_s:.0f} s",
            "\n".join(["the console's last lines:", *lines, "--timeout gives it more time"]),
        ) from None
    except OSError as error:
        hint = "allow this user to run it" if isinstance(error, PermissionError) else ""
        raise HeapwrightError(f"{qemu} cannot be run: {error.strerror or error}", hint) from error
    if status != 0:
        lines = [*last_lines(said, TOLD), *last_lines(console, TOLD)]
        raise GuestError(f"qemu left with status {status}", "\n".join(lines))
    return BootOutput(records.read_bytes(), tuple(last_lines(console, TOLD)))


def prove_kvm(qemu: str, machine: Machine, folder: Path) -> None:
    """Raises HeapwrightError unless a guest was seen to run to its end under KVM: the device can be
    there and not work."""
    hint = "without --kvm the machine is emulated, which needs nothing of the host's"
    if not KVM.exists():
        raise HeapwrightError(f"there is no {KVM}", hint)
    trial = replace(machine, settings={"load": "nothing"})
    try:
        taken = run_machine(qemu, trial, folder, KVM_PATIENCE_S)
        read_records(taken.raw, taken.console)
    except GuestError as error:
        raise HeapwrightError(
            f"{KVM} is there, but no guest runs with it: {error.message}",
            f"{hint}\n{error.hint}",
        ) from error


def check_guest(records: Records, built: Built, asked: Asked) -> None:
    """Raises GuestError where the guest was not what it was to be."""
    if records.allocator != built.allocator:
        raise GuestError(
            f"the guest runs {records.allocator} and was to run {built.allocator}",
            "heapwright kernel build --again",
        )
    if records.cpus != asked.cpus:
        raise GuestError(
            f"the guest has {records.cpus} processors and was to have {asked.cpus}",
            "fewer with --cpus",
        )
