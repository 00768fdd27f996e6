# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What memory figures depend on: swap, huge pages, what is free, limits, layout."""

from collections.abc import Sequence

from heapwright.artefacts.checkup.document import Check
from heapwright.doctor.machine import Machine, bad, good, note, unknown, warning
from heapwright.doctor.occupancy import own_groups

HUGE_PAGES = "sys/kernel/mm/transparent_hugepage/enabled"
LAYOUT = "proc/sys/kernel/randomize_va_space"
NO_RANDOMIZE = 0x0040000
HARD = ("memory.max", "memory.limit_in_bytes")
SOFT = ("memory.high",)
"""Files of limits, in version 2 and 1. Version 1 has no limit that slows down."""
LEAST_FREE = 1 << 30


def swap(machine: Machine) -> Check:
    """A page in swap is not resident, and costs a disk access when it is used."""
    table = machine.table("proc/meminfo")
    total, free = _kib(table, "SwapTotal"), _kib(table, "SwapFree")
    memory = _kib(table, "MemTotal")
    if total is None or free is None or not memory:
        return unknown("swap", "the machine does not tell")
    if total == 0:
        return good("swap", "none")
    used = total - free
    says = f"{_size(used)} of {_size(total)} in use"
    if used > memory / 100:
        return warning(
            "swap", says, "sudo swapoff -a, if there is memory enough for what is swapped"
        )
    return note("swap", says, "resident memory is understated if runs are swapped: sudo swapoff -a")


def layout(machine: Machine) -> Check:
    """With random layouts the luck of one layout is averaged out over the runs."""
    value = machine.number(LAYOUT)
    personality = machine.text("proc/self/personality")
    if value is None:
        return unknown("ASLR", "the machine does not tell")
    fixed = bool(personality) and int(personality, 16) & NO_RANDOMIZE != 0
    if value == 0 or fixed:
        return warning(
            "ASLR",
            "off: every run has one and the same layout, and its luck counts as an effect",
            "start without `setarch -R`" if fixed else f"echo 2 | sudo tee /{LAYOUT}",
        )
    return good("ASLR", "on: layouts differ from run to run, so that none counts")


def huge_pages(machine: Machine) -> Check:
    """Where the kernel makes huge pages by itself, memory comes in steps of 2 MiB."""
    modes = machine.text(HUGE_PAGES)
    chosen = modes.partition("[")[2].partition("]")[0]
    if not chosen:
        return unknown("huge pages", "the kernel has no transparent huge pages, or does not tell")
    if chosen == "always":
        return warning(
            "huge pages",
            "always: peaks come in steps of 2 MiB, and a kernel thread moves memory meanwhile",
            f"echo madvise | sudo tee /{HUGE_PAGES}, unless the program will live with them",
        )
    if chosen == "never":
        return note("huge pages", "never: allocators that ask for them get none")
    return good("huge pages", f"{chosen}: for who asks")


def free_memory(machine: Machine) -> Check:
    """What a run may take before something has to go."""
    table = machine.table("proc/meminfo")
    free, total = _kib(table, "MemAvailable"), _kib(table, "MemTotal")
    if free is None or not total:
        return unknown("memory", "the machine does not tell")
    says = f"{_size(free)} of {_size(total)} available"
    groups = [str(group) for group in own_groups(machine, "memory")]
    hard = _least(machine, groups, HARD, total)
    soft = _least(machine, groups, SOFT, total)
    left = [free]
    if hard is not None:
        limit, used = hard
        says += f"; a control group allows {_size(limit)}, {_size(used)} of it in use"
        left.append(limit - used)
    if soft is not None and (hard is None or soft[0] < hard[0]):
        says += f"; above {_size(soft[0])} the kernel slows the program down and reclaims"
        left.append(soft[0] - soft[1])
    if min(left) < LEAST_FREE:
        return warning(
            "memory", says, "programs that need more end as out-of-memory, or are swapped"
        )
    if len(left) > 1:
        return note(
            "memory",
            says,
            "a run beyond the limit is no time but an outcome; the page cache counts, too",
        )
    return good("memory", says)


def reservations(machine: Machine) -> Check:
    """Allocators that reserve address space ahead need the system to let them."""
    reserved = "allocators that reserve memory ahead fail, or fall back"
    if machine.number("proc/sys/vm/overcommit_memory") == 2:
        return warning(
            "reserving", f"the kernel counts what is reserved (overcommit 2): {reserved}",
            "sudo sysctl vm.overcommit_memory=0",
        )  # fmt: skip
    for line in machine.text("proc/self/limits").splitlines():
        if line.startswith("Max address space") and "unlimited" not in line.split()[3:4]:
            return warning(
                "reserving", f"address space is limited: {reserved}", "ulimit -v unlimited"
            )
    return good("reserving", "unlimited")


def disk(machine: Machine) -> Check:
    """Where traces, journals and results go."""
    room = {folder: machine.free(folder) for folder in machine.folders}
    known = {folder: free for folder, free in room.items() if free is not None}
    if not known:
        return unknown("disk", "the machine does not tell")
    folder = min(known, key=lambda each: known[each])
    says = f"{_size(known[folder])} free in {folder}"
    if known[folder] == 0:
        return bad("disk", says, "nothing can be written: free some, or set TMPDIR")
    if known[folder] < LEAST_FREE:
        return warning(
            "disk", says, "a trace takes about 10 bytes a call: free some, or set TMPDIR"
        )
    return good("disk", says)


def _least(
    machine: Machine, groups: Sequence[str], names: Sequence[str], total: int
) -> tuple[int, int] | None:
    """The smallest limit of the groups below the memory of the machine, and the use of its group.

    Returns bytes, or None without a limit.
    """
    limits = [
        (value, _used(machine, group))
        for group in groups
        for name in names
        if (value := machine.number(f"{group}/{name}")) is not None and value < total
    ]
    return min(limits, default=None)


def _used(machine: Machine, group: str) -> int:
    """Bytes that a control group uses, without the page cache that the kernel gives up first."""
    used = machine.number(f"{group}/memory.current")
    if used is None:
        used = machine.number(f"{group}/memory.usage_in_bytes") or 0
    fields = dict(line.split()[:2] for line in machine.text(f"{group}/memory.stat").splitlines())
    idle = fields.get("total_inactive_file") or fields.get("inactive_file") or "0"
    return max(0, used - int(idle))


def _kib(table: dict[str, str], name: str) -> int | None:
    number = table.get(name, "").partition(" ")[0]
    return int(number) * 1024 if number.isdigit() else None


def _size(count: float) -> str:
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"
