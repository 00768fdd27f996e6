# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Other load on the processors: programs, guests of the hypervisor, a limit of the control
group."""

from pathlib import PurePosixPath

from heapwright.artefacts.checkup.document import Check
from heapwright.doctor.machine import Machine, bad, good, note, unknown, warning

BUSY = 0.5
"""Runnable threads for each processor, above which figures mislead."""
QUIET = 0.1
STOLEN_MUCH = 0.05
STOLEN = 0.01
FEWEST_TICKS = 50
"""Of /proc/stat, below which an interval says nothing of steal."""
GROUPS = PurePosixPath("sys/fs/cgroup")


def load(machine: Machine) -> Check:
    """The mean of the last minute, as the system counts what wants to run."""
    words = machine.text("proc/loadavg").split()
    if not words:
        return unknown("load", "the machine does not tell")
    value = float(words[0])
    share = value / len(machine.cpus)
    says = f"{value:.2f} over the last minute, for {len(machine.cpus)} processors"
    advice = "end what else runs (`top` shows it), and wait a minute"
    if share > BUSY:
        return bad("load", says, advice)
    return warning("load", says, advice) if share > QUIET else good("load", says)


def steal(machine: Machine) -> Check:
    """Time in which a guest wanted to run and the host ran others."""
    now = _ticks(machine.text("proc/stat"))
    before = _ticks(machine.earlier_stat)
    if now is None:
        return unknown("steal", "the machine does not tell")
    period = "just now"
    total, stolen = now
    if before is not None and total - before[0] >= FEWEST_TICKS:
        total, stolen = total - before[0], stolen - before[1]
    else:
        period = "since the start"
    share = stolen / total if total else 0.0
    says = f"{share:.1%} of the processors' time {period}"
    advice = "the host is crowded: another machine, or another hour"
    if share > STOLEN_MUCH:
        return bad("steal", says, advice)
    return warning("steal", says, advice) if share > STOLEN else good("steal", says)


def limit(machine: Machine) -> Check:
    """A quota lets a program run at full speed and then stops it until the next period."""
    quotas = [quota for group in own_groups(machine, "cpu") if (quota := _quota(machine, group))]
    if not quotas:
        return good("CPU limit", "none")
    least = min(quotas)
    says = f"a control group allows {least:.2f} processors"
    if least < len(machine.cpus):
        return bad(
            "CPU limit",
            f"{says} of the {len(machine.cpus)} that are seen: runs are stopped in between",
            "take the limit off (--cpus of a container), or give whole processors (--cpuset-cpus)",
        )
    return note("CPU limit", says)


def pressure(machine: Machine) -> Check:
    """Stalls for memory or disk in the last minute."""
    stalls = {
        what: share
        for what in ("memory", "io")
        if (share := _stalled(machine.text(f"proc/pressure/{what}"))) is not None
    }
    if not stalls:
        return unknown("stalls", "the machine does not tell")
    says = ", ".join(f"{share:.1f} % for {what}" for what, share in stalls.items())
    says += " over the last minute"
    if stalls.get("memory", 0) > 1:
        return bad("stalls", says, "memory is short: end something, or measure something smaller")
    if stalls.get("io", 0) > 10:
        return warning("stalls", says, "something reads or writes a lot (`iotop` shows it)")
    return good("stalls", says)


def own_groups(machine: Machine, controller: str) -> list[PurePosixPath]:
    """The control groups that hold this process for one controller, inner ones first.

    In version 2 there is one tree, mounted at /sys/fs/cgroup, or beside those of version 1 at
    `unified`; in version 1 one for each controller. A container may see its own as the root.
    """
    found = []
    for line in machine.text("proc/self/cgroup").splitlines():
        number, _, rest = line.partition(":")
        names, _, path = rest.partition(":")
        if number == "0":
            roots = [GROUPS, GROUPS / "unified"]
        elif controller in names.split(","):
            roots = [GROUPS / names, GROUPS / controller]
        else:
            continue
        inner = PurePosixPath(path.lstrip("/"))
        found += [root / part for root in roots for part in (inner, *inner.parents)]
    return list(dict.fromkeys(found))


def _quota(machine: Machine, group: PurePosixPath) -> float | None:
    """Processors that a group allows; None: no limit there."""
    words = machine.text(str(group / "cpu.max")).split()
    if len(words) == 2 and words[0].isdigit():
        return int(words[0]) / int(words[1])
    quota = machine.number(str(group / "cpu.cfs_quota_us"))
    period = machine.number(str(group / "cpu.cfs_period_us"))
    return quota / period if quota and period and quota > 0 else None


def _ticks(stat: str) -> tuple[int, int] | None:
    """(all, stolen) of the first line of /proc/stat, over all processors."""
    words = stat.split("\n", 1)[0].split()
    if len(words) < 9 or words[0] != "cpu":
        return None
    values = [int(word) for word in words[1:9]]
    return sum(values), values[7]


def _stalled(text: str) -> float | None:
    """avg60 of the line `some`."""
    for line in text.splitlines():
        kind, *fields = line.split()
        if kind == "some":
            values = dict(each.partition("=")[::2] for each in fields)
            return float(values.get("avg60", "0"))
    return None
