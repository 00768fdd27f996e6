# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The work of `heapwright kernel check`: kernels with the kernel's own tests, built and booted."""

import os
import sys

from heapwright.commands.kernel_build import parse_allocators
from heapwright.commands.text import printing
from heapwright.kernel.build import build, plan
from heapwright.kernel.checks import FOLDER, CheckedKernel, Outcome, check_plan, checked
from heapwright.kernel.folders import kernel_cache
from heapwright.kernel.image_cache import find
from heapwright.kernel.machine import find_qemu
from heapwright.kernel.source import find_source
from heapwright.report.columns import Columns
from heapwright.report.console import make_console


def check_kernels(allocators: str, jobs: int | None, timeout_s: float) -> bool:
    """Print how each check ended; return whether all passed. Raises HeapwrightError if a kernel
    cannot be built."""
    find_qemu()
    names = parse_allocators(allocators)
    cache = kernel_cache(os.environ)
    source = find_source()
    many = jobs or len(os.sched_getaffinity(0))
    found = []
    for name in names:
        wanted = check_plan(plan(name, source))
        folder = cache / FOLDER
        built = find(wanted.key, folder) or build(wanted, folder, many, _say)
        _say(f"{name}: tests and churn")
        found.append(checked(built, cache, timeout_s))
        show_checks(found[-1])
    return all(each.passed for each in found)


def show_checks(kernel: CheckedKernel) -> None:
    headings = ("Kernel", "Boot", "Check", "Result", "Cases")
    rows = [
        (kernel.allocator, each.boot, each.name, each.outcome, _number(each.cases))
        for each in kernel.checks
    ]
    with printing():
        console = make_console()
        console.print(Columns(headings, rows, left=4))
        for each in kernel.checks:
            if each.outcome is Outcome.NONE:
                console.print(f"{each.name} does not apply: {each.line}", markup=False)
            for case in each.skipped:
                console.print(f"skipped in {each.name}: {case}", markup=False)
    if kernel.passed:
        return
    for each in kernel.checks:
        if each.failed:
            _say(f"{kernel.allocator}, {each.boot}: {each.name}: {each.line}")
    _say("\n".join(["the console's last lines:", *kernel.tail, f"all of it: {kernel.log}"]))


def _number(cases: int | None) -> str:
    return "" if cases is None else f"{cases:,}"


def _say(text: str) -> None:
    print(f"kernel: {text}", file=sys.stderr)  # noqa: T201
