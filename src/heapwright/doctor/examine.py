# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""All checks, in the order of the report, and the sentence that sums them up."""

from collections.abc import Callable, Sequence

from heapwright.artefacts.checkup.document import Check, Checkup, Finding, Noise
from heapwright.artefacts.run.provenance import Environment
from heapwright.doctor import container, instruments, memory, occupancy, processor
from heapwright.doctor.machine import Machine, unknown

CHECKS: tuple[Callable[[Machine], Check], ...] = (
    occupancy.load,
    occupancy.steal,
    occupancy.limit,
    occupancy.pressure,
    processor.available,
    processor.virtual,
    container.container,
    container.seccomp,
    processor.governor,
    processor.turbo,
    processor.hyperthreads,
    processor.throttling,
    processor.power,
    processor.clock,
    memory.free_memory,
    memory.swap,
    memory.huge_pages,
    memory.layout,
    memory.reservations,
    memory.disk,
    instruments.counters,
    instruments.valgrind,
    instruments.ptrace,
    instruments.peers,
    instruments.settings,
)


def examine(machine: Machine) -> tuple[Check, ...]:
    """Every check; a file that is not as expected is unknown and never ends the others."""
    return tuple(_one(check, machine) for check in CHECKS)


def checkup(environment: Environment, checks: Sequence[Check], noise: Noise | None) -> Checkup:
    """The whole answer."""
    fit = all(check.finding is not Finding.BAD for check in checks)
    return Checkup(
        environment=environment,
        fit=fit,
        sentence=_sentence(checks, noise),
        checks=tuple(checks),
        noise=noise,
    )


def _one(check: Callable[[Machine], Check], machine: Machine) -> Check:
    try:
        return check(machine)
    except ValueError as error:
        return unknown(check.__name__.replace("_", " "), f"not to be understood: {error}")


def _sentence(checks: Sequence[Check], noise: Noise | None) -> str:
    """One line, without a full stop."""
    wrong = [check for check in checks if check.finding is Finding.BAD]
    cared = [check.name for check in checks if check.finding is Finding.WARNING]
    if wrong:
        reasons = "; ".join(f"{check.name}: {check.says}" for check in wrong)
        return f"This machine is not fit to measure on now: {reasons}"
    words = "This machine is fit to measure on"
    if cared:
        words += f", with care for {', '.join(cared)}"
    shown = next((each for each in noise.visible if each.difference), None) if noise else None
    if shown is None or shown.difference is None:
        return words
    return (
        f"{words}; in {_time(shown.budget_s)} it shows differences of "
        f"{100 * shown.difference:.2g} % or more between two allocators"
    )


def _time(seconds: float) -> str:
    return f"{seconds / 60:g} min" if seconds >= 60 else f"{seconds:g} s"
