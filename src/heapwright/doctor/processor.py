# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""How fast the processors run, and whose they are: governor, turbo, threads of a core, clock."""

from heapwright.artefacts.checkup.document import Check
from heapwright.doctor.machine import Machine, good, note, unknown, warning

CPU = "sys/devices/system/cpu"
STEADY = {"performance"}
FAST_CLOCKS = {
    "tsc",
    "kvm-clock",
    "hyperv_clocksource_tsc_page",
    "arch_sys_counter",
    "timebase",
    "riscv_clocksource",
    "tod",
}


def governor(machine: Machine) -> Check:
    """A governor that follows the load makes short runs slower than long ones."""
    found = sorted(set(machine.texts(f"{CPU}/cpu[0-9]*/cpufreq/scaling_governor")))
    if not found:
        return unknown("governor", "the machine does not tell")
    if set(found) <= STEADY:
        return good("governor", found[0])
    return warning(
        "governor",
        f"{', '.join(found)}: the frequency follows the load",
        "sudo cpupower frequency-set -g performance",
    )


def turbo(machine: Machine) -> Check:
    """A boosted frequency depends on heat, and on what the other cores do."""
    no_turbo = machine.number(f"{CPU}/intel_pstate/no_turbo")
    boost = machine.number(f"{CPU}/cpufreq/boost")
    if no_turbo is None and boost is None:
        return unknown("turbo", "the machine does not tell")
    if no_turbo == 1 or (no_turbo is None and boost == 0):
        return good("turbo", "off")
    switch = (
        f"echo 1 | sudo tee /{CPU}/intel_pstate/no_turbo"
        if no_turbo is not None
        else f"echo 0 | sudo tee /{CPU}/cpufreq/boost"
    )
    return warning("turbo", "on: the frequency depends on heat and on the other cores", switch)


def hyperthreads(machine: Machine) -> Check:
    """Two threads of one core slow each other down."""
    active = machine.number(f"{CPU}/smt/active")
    if active is None:
        return unknown("SMT", "the machine does not tell")
    if active == 0:
        return good("SMT", "one thread a core")
    one_each = sorted(
        {
            min(machine.cpus & siblings)
            for text in machine.texts(f"{CPU}/cpu[0-9]*/topology/thread_siblings_list")
            if machine.cpus & (siblings := parse_cpus(text))
        }
    )
    pin = f"--pin {','.join(map(str, one_each))} keeps to one thread of each core"
    return note("SMT", "several threads share a core", pin if one_each else "")


def throttling(machine: Machine) -> Check:
    """Heat that has slowed the processors down before will do so again."""
    counts = machine.texts(f"{CPU}/cpu[0-9]*/thermal_throttle/core_throttle_count")
    if not counts:
        return unknown("heat", "the machine does not tell")
    total = sum(int(count) for count in counts if count.isdigit())
    if total == 0:
        return good("heat", "never throttled since the start")
    return note(
        "heat",
        f"throttled {total} times since the start",
        "let it cool; turn turbo off if it goes on",
    )


def power(machine: Machine) -> Check:
    """On battery the frequency is held down."""
    online = machine.texts("sys/class/power_supply/*/online")
    if not online:
        return good("power", "no battery")
    if "1" in online:
        return good("power", "on the mains")
    return warning("power", "on battery: the frequency is held down", "plug it in")


def available(machine: Machine) -> Check:
    """The number of processors, and the number that this process may use."""
    online = parse_cpus(machine.text(f"{CPU}/online"))
    own = len(machine.cpus)
    says = f"{own}" if not online or own == len(online) else f"{own} of {len(online)}"
    if own == 1:
        return warning(
            "processors", says, "threads cannot run at once: scaling is not measured here"
        )
    nodes = len(machine.texts("sys/devices/system/node/node[0-9]*/cpulist"))
    if nodes > 1:
        return note(
            "processors",
            f"{says}, {nodes} memory nodes: memory is near to some and far from others",
            "numactl --cpunodebind=0 --membind=0 heapwright … keeps to one node",
        )
    return good("processors", says)


def virtual(machine: Machine) -> Check:
    """A guest shares its processors with others that it cannot see."""
    flags = machine.table("proc/cpuinfo").get("flags", "").split()
    if "hypervisor" in flags:
        return note(
            "machine",
            "virtual: what the host's other guests do shows as steal or scatter",
            "measure on a machine of its own where small differences matter",
        )
    return good("machine", "not virtual" if flags else "of a kind that does not tell")


def clock(machine: Machine) -> Check:
    """A clock that is read through the kernel costs a microsecond for each reading."""
    source = machine.text("sys/devices/system/clocksource/clocksource0/current_clocksource")
    if not source:
        return unknown("clock", "the machine does not tell")
    if source in FAST_CLOCKS:
        return good("clock", source)
    others = machine.text("sys/devices/system/clocksource/clocksource0/available_clocksource")
    better = next((each for each in others.split() if each in FAST_CLOCKS), "")
    path = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
    return warning(
        "clock",
        f"{source}: slow to read, which `replay` does twice a call",
        f"echo {better} | sudo tee {path}" if better else "the kernel distrusts the faster clock",
    )


def parse_cpus(text: str) -> set[int]:
    """A list as the kernel writes it: 0-3,8. What cannot be read is left out."""
    found: set[int] = set()
    for piece in text.split(","):
        first, _, last = piece.strip().partition("-")
        if first.isdigit() and (last or first).isdigit():
            found.update(range(int(first), int(last or first) + 1))
    return found
