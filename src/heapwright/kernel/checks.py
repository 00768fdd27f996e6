# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The kernel's own tests and checks of an object allocator: in which kernel, and how they ended.

The tests run while the kernel starts, and each prints a last line. The checks report on the console
what they find. They watch the tests and a churn of kernel objects. A test that prints no last line
did not run to its end.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from heapwright.base.scratch import Scratch
from heapwright.kernel.boot import run_machine
from heapwright.kernel.build import Plan
from heapwright.kernel.configuration import Fragment, read_fragment
from heapwright.kernel.folders import ALLOCATORS, shipped
from heapwright.kernel.guest import Programs, initramfs
from heapwright.kernel.image_cache import Built
from heapwright.kernel.loads import load_of
from heapwright.kernel.machine import Machine, find_qemu
from heapwright.kernel.records import GuestError

FOLDER = "checks"
"""Of the cache: apart from the kernels that are measured."""
FRAGMENTS = {
    "slab": ("checks", "checks-objects"),
    "slub": ("checks", "checks-objects", "checks-slub"),
    "slob": ("checks",),
    "slqb": ("checks", "checks-objects"),
}
OBJECTS = ("slab", "slub", "slqb")
TESTS = "tests"
POISON = "red zones and poison"
CHURN = "churn"
MEMORY = 3
"""Times the memory of the load: the checks need the rest."""
PATIENCE_S = 3600.0
TAIL = 20

REPORT = re.compile(
    r"WARNING:|BUG:|BUG at |\bBUG \S+ \(|\bFIX \S+: |Oops|possible circular|INFO: possible|ODEBUG:"
)
"""SLUB writes the name of the cache behind BUG and FIX."""
KFENCE = "kfence"
EXPECTED = re.compile(r"BUG: KFENCE:")
"""The tests of KFENCE make mistakes and read its reports. Elsewhere such a report counts."""
KFENCE_BEGINS = re.compile(rf"# Subtest: {KFENCE}\s*$")
KFENCE_ENDS = re.compile(rf"(?:^|\] )(?:not )?ok \d+ (?:- )?{KFENCE}\s*$")
NOISE_BEGINS, NOISE_ENDS = "vvv Ignore", "^^^ "
"""Around the warnings that the test of identities provokes."""


@dataclass(frozen=True, slots=True)
class KernelTest:
    """A test of the kernel's source, and its last line."""

    name: str
    passed: re.Pattern[str]
    failed: re.Pattern[str]
    allocators: tuple[str, ...] = ALLOCATORS


def _suite(name: str, allocators: tuple[str, ...] = ALLOCATORS) -> KernelTest:
    line = rf"ok \d+ (?:- )?{name}\s*$"
    begin = r"(?:^|\] )"
    return KernelTest(name, re.compile(begin + line), re.compile(rf"{begin}not {line}"), allocators)


KERNEL_TESTS = (
    _suite("overflow"),
    KernelTest(
        "test_ida",
        re.compile(r"IDA: (\d+) of \1 tests passed"),
        re.compile(r"IDA: (\d+) of (?!\1 )\d+ tests passed"),
    ),
    KernelTest(
        "test_meminit",
        re.compile(r"test_meminit: all \d+ tests passed!"),
        re.compile(r"test_meminit: failures: "),
        OBJECTS,
    ),
    _suite(KFENCE, OBJECTS),
    _suite("slub_test", ("slub",)),
)


@dataclass(frozen=True, slots=True)
class Boot:
    """One boot of a kernel with checks."""

    name: str
    words: tuple[str, ...] = ()
    tested: bool = True
    """Whether the results of the tests count."""


def boots_of(allocator: str) -> tuple[Boot, ...]:
    """SLUB checks red zones and poison if its boot requests this. Then objects are poisoned instead
    of cleared, so the results of the tests do not count."""
    plain = (Boot(TESTS),)
    if allocator != "slub":
        return plain
    return (*plain, Boot(POISON, ("slub_debug=FZPU", "kunit.enable=0"), tested=False))


@dataclass(frozen=True, slots=True)
class Check:
    """How a test or the checks during a boot ended."""

    boot: str
    name: str
    passed: bool
    line: str


@dataclass(frozen=True, slots=True)
class CheckedKernel:
    """All checks of a kernel, and the end of the console where one failed."""

    allocator: str
    checks: tuple[Check, ...]
    log: Path
    """The console of all boots."""
    tail: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        return all(check.passed for check in self.checks)


def check_plan(plan: Plan) -> Plan:
    """The same kernel with tests and checks. Raises HeapwrightError for a missing fragment."""
    return replace(plan, fragments=(*plan.fragments, *check_fragments(plan.allocator)))


def check_fragments(allocator: str) -> tuple[Fragment, ...]:
    return tuple(read_fragment(shipped() / f"{name}.config") for name in FRAGMENTS[allocator])


def checked(built: Built, cache: Path, timeout_s: float = PATIENCE_S) -> CheckedKernel:
    """Boot it with all its tests. Raises HeapwrightError if it cannot be booted at all."""
    log = cache / FOLDER / "logs" / f"{built.key}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text("", encoding="utf-8")
    checks: list[Check] = []
    tail: tuple[str, ...] = ()
    for boot in boots_of(built.allocator):
        lines, ended = _console(built, boot, cache, timeout_s)
        with log.open("a", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in (f"== {boot.name}", *lines))
        found = list(results(built.allocator, boot, lines, ended))
        if not tail and not all(check.passed for check in found):
            tail = tuple(lines[-TAIL:])
        checks += found
    return CheckedKernel(built.allocator, tuple(checks), log, tail)


def _console(
    built: Built, boot: Boot, cache: Path, timeout_s: float
) -> tuple[list[str], GuestError | None]:
    """What the kernel printed, and why the guest did not come to its end."""
    load = load_of(CHURN, "small")
    failure = None
    with Scratch() as scratch:
        archive = scratch / "initramfs.gz"
        archive.write_bytes(initramfs(cache, Programs()))
        machine = Machine(
            built.image,
            archive,
            MEMORY * load.memory_mib,
            settings={**load.settings, "load": load.name, "seed": 1},
            words=("loglevel=7", *boot.words),
        )
        try:
            out = run_machine(find_qemu(), machine, scratch, timeout_s)
            if b'"record":"end"' not in out.raw:
                failure = GuestError("the guest died before the end of the churn", "")
        except GuestError as error:
            failure = error
        text = (scratch / "console.log").read_text("utf-8", errors="replace")
    lines = ["".join(each for each in line if each.isprintable()) for line in text.splitlines()]
    return [line for line in lines if line.strip()], failure


def results(
    allocator: str, boot: Boot, lines: Sequence[str], failure: GuestError | None
) -> Iterator[Check]:
    """How each test that applies ended, then what the checks reported, then the churn."""
    for test in KERNEL_TESTS:
        if boot.tested and allocator in test.allocators:
            yield _result(boot, test, lines)
    reports = list(unexpected(lines, boot))
    yield Check(boot.name, "no report", not reports, reports[0] if reports else "")
    yield Check(boot.name, CHURN, failure is None, failure.message if failure else "")


def _result(boot: Boot, test: KernelTest, lines: Sequence[str]) -> Check:
    for line in lines:
        if test.failed.search(line):
            return Check(boot.name, test.name, passed=False, line=line)
    for line in lines:
        if test.passed.search(line):
            return Check(boot.name, test.name, passed=True, line=line)
    return Check(boot.name, test.name, passed=False, line="it did not run to its end")


def unexpected(lines: Sequence[str], boot: Boot) -> Iterator[str]:
    """Reports of the kernel's checks that no test of this boot provoked."""
    noise = mistakes = False
    for line in lines:
        if NOISE_BEGINS in line or NOISE_ENDS in line:
            noise = NOISE_BEGINS in line
        elif KFENCE_BEGINS.search(line):
            mistakes = boot.tested
        elif mistakes and KFENCE_ENDS.search(line):
            mistakes = False
        elif noise or (mistakes and EXPECTED.search(line)):
            continue
        elif REPORT.search(line):
            yield line
