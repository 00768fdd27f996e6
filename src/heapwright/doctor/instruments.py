# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What there is to measure with: counters, valgrind, ptrace, the allocators to compare."""

import os

from heapwright.artefacts.checkup.document import Check
from heapwright.artefacts.run.provenance import Kind, by_reason
from heapwright.doctor.machine import Machine, good, note, unknown, warning

PARANOID = "proc/sys/kernel/perf_event_paranoid"
PTRACE = "proc/sys/kernel/yama/ptrace_scope"
MOST_PARANOID = 2
"""Up to this level, users may count events of their own programs outside the kernel."""


def counters(machine: Machine) -> Check:
    """Instructions and cache misses from the processor itself."""
    if machine.counters:
        return good("counters", ", ".join(sorted(machine.counters)))
    instead = "instructions are counted, and caches simulated, under valgrind instead"
    paranoid = machine.number(PARANOID)
    if paranoid is not None and paranoid > MOST_PARANOID:
        return warning(
            "counters",
            f"forbidden (perf_event_paranoid {paranoid}): {instead}",
            "sudo sysctl kernel.perf_event_paranoid=2",
        )
    if machine.perf_error:
        return warning(
            "counters",
            f"perf_event_open is refused ({os.strerror(machine.perf_error)}): {instead}",
            "docker run --cap-add=PERFMON, or a seccomp profile that permits perf_event_open",
        )
    if machine.counters is None:
        return unknown("counters", "no run was made to see")
    return note("counters", f"none, as in most virtual machines and containers: {instead}")


def valgrind(machine: Machine) -> Check:
    """Counts instructions, atomic operations and lines of memory where there are no counters."""
    path = machine.find("valgrind")
    if path is None:
        return warning(
            "valgrind", "not installed: nothing is counted", "install the package valgrind"
        )
    return good("valgrind", path)


def ptrace(machine: Machine) -> Check:
    """`explain` looks into the processes that it has started."""
    scope = machine.number(PTRACE)
    if machine.ptrace_error == 0 or (machine.ptrace_error is None and (scope or 0) <= 1):
        return good("ptrace", "own children may be looked into")
    if machine.ptrace_error and (scope or 0) <= 1:
        return warning(
            "ptrace",
            f"refused ({os.strerror(machine.ptrace_error)}): `explain` cannot tell what is lost",
            "docker run --cap-add=SYS_PTRACE, or a seccomp profile that permits ptrace",
        )
    if scope == 2:
        return warning(
            "ptrace",
            "for the administrator only: `explain` cannot tell what is lost",
            "sudo sysctl kernel.yama.ptrace_scope=1",
        )
    return warning("ptrace", "forbidden until the next start of the system", "set it to 1 at start")


def peers(machine: Machine) -> Check:
    """The allocators to compare with."""
    found = [each for each in machine.allocators if each.kind is Kind.PEER]
    there = [each.name for each in found if each.usable and each.effective]
    lacking = by_reason(each for each in found if not each.effective)
    missing = [f"{', '.join(names)}: {reason}" for names, reason in lacking]
    if not found:
        return unknown("peers", "not looked for")
    if not there:
        return warning("peers", "none", "; ".join(missing))
    says = ", ".join(there)
    return note("peers", says, "; ".join(missing)) if missing else good("peers", says)


def settings(machine: Machine) -> Check:
    """Variables of the user's own that reach every run."""
    if not machine.settings:
        return good("environment", "nothing that allocators listen to")
    names = sorted(machine.settings)
    return warning(
        "environment",
        f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} set and reach every run",
        f"unset {' '.join(names)}, unless that is meant",
    )
