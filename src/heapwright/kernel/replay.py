# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Replays a kernel trace in a real kernel, and reads the slab memory that the kernel reports.

The kernels are built with patches/linux-6.1/replay.patch and lie apart from those that are
measured. The trace is one of the guest's first files. The guest's first process writes its path to
the kernel, and sends the kernel's report (native/guest/replay.c). With one processor the time is
virtual, and a replay repeats exactly.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from heapwright.artefacts.kernel_study.replay import KernelReplay
from heapwright.kernel.archive import regular
from heapwright.kernel.boot import Asked, MachineExtras, check_guest, kernel_of, ran
from heapwright.kernel.build import Plan
from heapwright.kernel.configuration import read_fragment
from heapwright.kernel.folders import shipped
from heapwright.kernel.image_cache import Built
from heapwright.kernel.loads import Load
from heapwright.kernel.machine import Machine, find_qemu, qemu_version
from heapwright.kernel.patch import REPLAY, find_patch
from heapwright.kernel.records import GuestError, read_records
from heapwright.kernel.replay_file import ReplayFile

FOLDER = "replays"
"""Of the cache: apart from the kernels that are measured."""
PATH = "replay.bin"
"""As native/guest/replay.c has it."""
KERNEL_MIB = 64
"""For the kernel itself and its first process."""
COPIES = 4
"""Of the file in the memory of the guest: compressed, unpacked, in the replay, and its places."""
PATIENCE_S = 1800.0
AGAIN = "build the kernel with the replay again: heapwright kernel replay --again"
NO_MEMORY = "deadlocked on memory"
"""The kernel's last words when nothing can be freed for it."""
REPORT = re.compile(r"(base|mark) (\d+)|(end) (\d+) (\d+) (\d+)")


def replay_plan(plan: Plan) -> Plan:
    """The same kernel with the replay. Raises HeapwrightError if a file of it is missing."""
    fragment = read_fragment(shipped() / f"{REPLAY}.config")
    patches = (*plan.patches, find_patch(REPLAY))
    return replace(plan, fragments=(*plan.fragments, fragment), patches=patches)


def replayed(
    built: Built, file: ReplayFile, cache: Path, timeout_s: float = PATIENCE_S
) -> KernelReplay:
    """Boot the kernel and have it replay the file. Raises HeapwrightError."""
    room = COPIES * -(-len(file.data) // (1 << 20))
    load = Load(REPLAY, "trace", file.memory_mib + KERNEL_MIB + room, timeout_s, {})
    asked = Asked(load, cpus=file.cpus)
    extras = MachineExtras(files={PATH: regular(file.data)})
    try:
        machine, taken = ran(built, asked, cache, extras)
        records = read_records(taken.raw, taken.console)
        check_guest(records, built, asked)
        found = read_report(records.output, built, machine, file.marks)
    except GuestError as error:
        what, hint = error.message, error.hint
        if NO_MEMORY in hint:
            what = "the trace needs more memory than its guest has"
            hint = f"raise the number after `memory` in the trace\n{hint}"
        raise GuestError(f"{built.allocator}: {what}", hint) from error
    return found.model_copy(update={"emulator": qemu_version(find_qemu())})


def read_report(lines: Sequence[str], built: Built, machine: Machine, marks: int) -> KernelReplay:
    """What the kernel's lines say. Raises GuestError if they are incomplete."""
    found: dict[str, list[tuple[int, ...]]] = {"base": [], "mark": [], "end": []}
    for line in lines:
        match = REPORT.fullmatch(line)
        if match is None:
            raise GuestError(f"the kernel's report of the replay has the line {line!r}", AGAIN)
        numbers = tuple(int(each) for each in match.groups() if each and each.isdigit())
        found[match[1] or match[3]].append(numbers)
    # The mark behind those of the trace is that of the kept memory.
    if [len(each) for each in found.values()] != [1, marks + 1, 1]:
        raise GuestError(
            "the kernel's report of the replay is incomplete: it has "
            f"{len(found['mark'])} of {marks + 1} marks",
            AGAIN,
        )
    ((ns, dry_ns, refused),) = found["end"]
    *during, kept = (pages for (pages,) in found["mark"])
    return KernelReplay(
        kernel=kernel_of(built),
        memory_mib=machine.memory_mib,
        time=machine.time,
        base=found["base"][0][0],
        marks=tuple(during),
        kept=kept,
        ns=ns,
        dry_ns=dry_ns,
        refused=refused,
    )
