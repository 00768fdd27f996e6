# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The kernel's own tests and checks of an object allocator: in which kernel, and how they ended.

The tests run while the kernel starts, and each prints a last line. The checks report on the console
what they find. They watch the tests and a churn of kernel objects. A test that prints no last line
did not run to its end.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from heapwright.base.scratch import Scratch
from heapwright.kernel.boot import Asked, check_guest, run_machine
from heapwright.kernel.build import Plan
from heapwright.kernel.configuration import Fragment, read_fragment
from heapwright.kernel.folders import shipped
from heapwright.kernel.guest import Programs, initramfs
from heapwright.kernel.image_cache import Built
from heapwright.kernel.loads import load_of
from heapwright.kernel.machine import Machine, find_qemu
from heapwright.kernel.records import GuestError, read_records

FOLDER = "checks"
"""Of the cache: apart from the kernels that are measured."""
FRAGMENTS = {
    "slab": ("checks", "checks-objects"),
    "slub": ("checks", "checks-objects", "checks-slub"),
    "slob": ("checks",),
    "slqb": ("checks", "checks-objects"),
}
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
KFENCE_ENDS = re.compile(rf"(?:^|\] )(?:not )?ok \d+ (?:- )?{KFENCE}(?:\s*$| # SKIP)")
NOISE_BEGINS, NOISE_ENDS = "vvv Ignore", "^^^ "
"""Around the warnings that the test of identities provokes."""
CASE = re.compile(r"(?:^|\] ) {4}ok \d+ (?:- )?(?P<name>\S+)(?P<skipped> # SKIP.*)?\s*$")
"""The last line of one case of a suite."""


class Outcome(StrEnum):
    """How a test or a check ended."""

    PASSED = "passed"
    FAILED = "failed"
    NONE = "does not apply"


@dataclass(frozen=True, slots=True)
class KernelTest:
    """A test of the kernel's source, and its last line."""

    name: str
    passed: re.Pattern[str]
    failed: re.Pattern[str]
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Allocators to which it does not apply, and why."""
    suite: bool = False
    """Its cases have lines of their own. Otherwise their number is a group of `passed`."""


def _suite(name: str, reasons: Mapping[str, str] | None = None) -> KernelTest:
    """A suite of which every case was skipped tested nothing."""
    begin, line = r"(?:^|\] )", rf"ok \d+ (?:- )?{name}"
    return KernelTest(
        name,
        re.compile(rf"{begin}{line}\s*$"),
        re.compile(rf"{begin}(?:not {line}\s*$|{line} # SKIP)"),
        reasons or {},
        suite=True,
    )


OTHERS = ("slab", "slqb", "slob")
OVERFLOW, IDA, MEMINIT, SLUB_TEST = "overflow", "test_ida", "test_meminit", "slub_test"
KERNEL_TESTS = (
    _suite(OVERFLOW),
    KernelTest(
        IDA,
        re.compile(r"IDA: (\d+) of \1 tests passed"),
        re.compile(r"IDA: (\d+) of (?!\1 )\d+ tests passed"),
    ),
    KernelTest(
        MEMINIT,
        re.compile(r"test_meminit: all (\d+) tests passed!"),
        re.compile(r"test_meminit: failures: "),
        {"slob": "SLOB does not clear objects"},
    ),
    _suite(KFENCE, {"slob": "SLOB does not use KFENCE"}),
    _suite(SLUB_TEST, dict.fromkeys(OTHERS, "only SLUB has the tested checks")),
    KernelTest(
        POISON,
        re.compile(r"SLAB_POISON will take precedence over init_on_alloc"),
        re.compile(r"(?!)"),
        {
            "slab": "SLAB has them only with DEBUG_SLAB, and then objects are not cleared",
            "slqb": "SLQB has none",
            "slob": "SLOB has none",
        },
    ),
)
"""The last one is the kernel's word that its option took effect."""


@dataclass(frozen=True, slots=True)
class Boot:
    """One boot of a kernel with checks."""

    name: str
    tests: tuple[str, ...]
    """Whose results count."""
    words: tuple[str, ...] = ()


def boots_of(allocator: str) -> tuple[Boot, ...]:
    """SLUB checks red zones and poison if its boot requests this. Then objects are poisoned instead
    of cleared, so the result of test_meminit does not count. KFENCE may serve an object that
    slub_test damages, so this test is in a boot without KFENCE."""
    if allocator != "slub":
        return (Boot(TESTS, tuple(t.name for t in KERNEL_TESTS if allocator not in t.reasons)),)
    return (
        Boot(TESTS, (OVERFLOW, IDA, MEMINIT, KFENCE), ("kunit.filter_glob=[!s]*",)),
        Boot(
            POISON,
            (POISON, OVERFLOW, IDA, SLUB_TEST),
            ("slub_debug=FZPU", "kfence.sample_interval=0", "kunit.filter_glob=[!k]*"),
        ),
    )


@dataclass(frozen=True, slots=True)
class Check:
    """How a test or the checks during a boot ended."""

    boot: str
    name: str
    outcome: Outcome
    line: str = ""
    """Of the console, or the reason."""
    cases: int | None = None
    """How many passed. A check has none."""
    skipped: tuple[str, ...] = ()
    """Cases that the kernel skipped, with its reasons."""

    @property
    def failed(self) -> bool:
        return self.outcome is Outcome.FAILED


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
        return not any(check.failed for check in self.checks)


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
        found = list(results(boot, lines, ended))
        if not tail and any(check.failed for check in found):
            tail = tuple(lines[-TAIL:])
        checks += found
    checks += without_use(built.allocator)
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
            check_guest(read_records(out.raw, out.console), built, Asked(load))
        except GuestError as error:
            failure = error
        text = (scratch / "console.log").read_text("utf-8", errors="replace")
    lines = ["".join(each for each in line if each.isprintable()) for line in text.splitlines()]
    return [line for line in lines if line.strip()], failure


def results(boot: Boot, lines: Sequence[str], failure: GuestError | None) -> Iterator[Check]:
    """How each test of this boot ended, then what the checks reported, then the churn."""
    for test in KERNEL_TESTS:
        if test.name in boot.tests:
            yield _result(boot, test, lines)
    reports = list(unexpected(lines, boot))
    yield _check(boot, "no report", reports[0] if reports else "")
    yield _check(boot, CHURN, failure.message if failure else "")


def without_use(allocator: str) -> Iterator[Check]:
    """The tests that do not apply to an allocator."""
    for test in KERNEL_TESTS:
        if allocator in test.reasons:
            yield Check("", test.name, Outcome.NONE, test.reasons[allocator])


def _check(boot: Boot, name: str, wrong: str) -> Check:
    return Check(boot.name, name, Outcome.FAILED if wrong else Outcome.PASSED, wrong)


def _result(boot: Boot, test: KernelTest, lines: Sequence[str]) -> Check:
    for line in lines:
        if test.failed.search(line):
            return _check(boot, test.name, line)
    for number, line in enumerate(lines):
        if match := test.passed.search(line):
            if test.suite:
                return _cases(boot, test.name, lines[: number + 1])
            cases = int(match[1]) if test.passed.groups else None
            return Check(boot.name, test.name, Outcome.PASSED, line, cases)
    return _check(boot, test.name, "it did not run to its end")


def _cases(boot: Boot, suite: str, lines: Sequence[str]) -> Check:
    """A suite that ended well, from its cases. A suite without a case tested nothing."""
    starts = [number for number, line in enumerate(lines) if line.endswith(f"# Subtest: {suite}")]
    found = [match for line in lines[starts[-1] if starts else 0 :] if (match := CASE.search(line))]
    skipped = tuple(match["name"] + match["skipped"] for match in found if match["skipped"])
    passed = len(found) - len(skipped)
    if not passed:
        return _check(boot, suite, "it ran no case")
    return Check(boot.name, suite, Outcome.PASSED, lines[-1], passed, skipped)


def unexpected(lines: Sequence[str], boot: Boot) -> Iterator[str]:
    """Reports of the kernel's checks that no test of this boot provoked."""
    noise = mistakes = False
    for line in lines:
        if NOISE_BEGINS in line or NOISE_ENDS in line:
            noise = NOISE_BEGINS in line
        elif KFENCE_BEGINS.search(line):
            mistakes = KFENCE in boot.tests
        elif mistakes and KFENCE_ENDS.search(line):
            mistakes = False
        elif noise or (mistakes and EXPECTED.search(line)):
            continue
        elif REPORT.search(line):
            yield line
