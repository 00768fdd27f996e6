# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""How the kernel's own tests ended is read from its console, and a patched kernel passes them."""

import os
import shutil
from pathlib import Path

import pytest

from heapwright.commands import kernel_check
from heapwright.kernel import checks
from heapwright.kernel.boot import BootOutput
from heapwright.kernel.build import build, plan
from heapwright.kernel.checks import (
    FOLDER,
    FRAGMENTS,
    KERNEL_TESTS,
    KFENCE,
    MEMINIT,
    OTHERS,
    OVERFLOW,
    POISON,
    SLUB_TEST,
    TESTS,
    Boot,
    Check,
    CheckedKernel,
    Outcome,
    boots_of,
    check_fragments,
    check_plan,
    checked,
    results,
    unexpected,
    without_use,
)
from heapwright.kernel.folders import ALLOCATORS, kernel_cache
from heapwright.kernel.image_cache import Built, find
from heapwright.kernel.machine import QEMU
from heapwright.kernel.patch import PATCHED
from heapwright.kernel.records import GuestError
from heapwright.kernel.source import ARCHIVE, Source, find_source

GOOD = (
    '[    0.5] vvv Ignore "not allocated" warnings',
    "[    0.5] WARNING: CPU: 0 PID: 1 at lib/idr.c:525 ida_free+0x1",
    '[    0.5] ^^^ "not allocated" warnings over',
    "[    0.6] IDA: 75098 of 75098 tests passed",
    "[    0.7] test_meminit: all 40 tests passed!",
    "[    0.8]     # Subtest: overflow",
    "[    0.8]     ok 1 - shift_test",
    "[    0.8]     ok 2 - allocation_test",
    "[    0.8] ok 1 - overflow",
    "[    0.8]     # Subtest: kfence",
    "[    0.9] BUG: KFENCE: out-of-bounds read in test_out_of_bounds_read+0x1",
    "[    0.9]     ok 1 test_out_of_bounds_read",
    "[    0.9]     ok 2 test_gfpzero # SKIP Test requires: kfence_sample_interval <= 100",
    "[    0.9] ok 2 - kfence",
    "[    0.9]     # Subtest: slub_test",
    "[    0.9]         ok 1 - a case of a case",
    "[    0.9]     ok 1 - test_next_pointer",
    "[    1.0] ok 3 - slub_test",
)
EVERY = Boot(TESTS, tuple(test.name for test in KERNEL_TESTS if test.name != POISON))
FREE_OF_KFENCE = Boot(TESTS, (OVERFLOW,))


def failed(lines: tuple[str, ...], boot: Boot = EVERY) -> dict[str, str]:
    return {each.name: each.line for each in results(boot, lines, None) if each.failed}


def test_every_test_of_a_boot_is_found_on_its_console_with_its_cases() -> None:
    cases = {each.name: each.cases for each in results(EVERY, GOOD, None)}
    assert cases == {
        "overflow": 2,
        "test_ida": 75098,
        "test_meminit": 40,
        "kfence": 1,
        "slub_test": 1,
        "no report": None,
        "churn": None,
    }
    assert failed(GOOD) == {}


@pytest.mark.parametrize("allocator", ALLOCATORS)
def test_every_test_runs_in_a_boot_of_an_allocator_or_has_a_reason(allocator: str) -> None:
    run = {name for boot in boots_of(allocator) for name in boot.tests}
    reasons = {each.name: each.line for each in without_use(allocator)}
    assert run | reasons.keys() == {test.name for test in KERNEL_TESTS}
    assert not run & reasons.keys()
    assert all(reasons.values())
    built = {name for part in check_fragments(allocator) for name in part.symbols}
    configured = {
        MEMINIT: "TEST_MEMINIT",
        KFENCE: "KFENCE_KUNIT_TEST",
        SLUB_TEST: "SLUB_KUNIT_TEST",
    }
    assert {name for name, symbol in configured.items() if symbol in built} == run & set(configured)


def test_a_case_that_is_skipped_is_named_and_not_counted() -> None:
    (found,) = [each for each in results(EVERY, GOOD, None) if each.name == KFENCE]
    why = "# SKIP Test requires: kfence_sample_interval <= 100"
    assert (found.outcome, found.skipped) == (Outcome.PASSED, (f"test_gfpzero {why}",))
    line = "[    0.9] ok 2 kfence # SKIP no pool"
    lines = tuple(line if each.endswith("ok 2 - kfence") else each for each in GOOD)
    assert failed(lines) == {"kfence": line}
    none = tuple(line for line in GOOD if " ok 1 test_out_of" not in line)
    assert failed(none) == {"kfence": "it ran no case"}


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("test_ida", "75098 of 75098", "75097 of 75098"),
        ("test_meminit", "all 40 tests passed!", "failures: 1 out of 40"),
        ("overflow", "ok 1 - overflow", "not ok 1 - overflow"),
        ("kfence", "ok 2 - kfence", "not ok 2 - kfence"),
        ("kfence", "] ok 2 - kfence", "] "),
        ("slub_test", "ok 3 - slub_test", "not ok 3 - slub_test"),
    ],
)
def test_a_test_that_fails_or_does_not_end_has_failed(name: str, good: str, bad: str) -> None:
    lines = tuple(line.replace(good, bad) for line in GOOD)
    assert lines != GOOD
    assert list(failed(lines)) == [name]


def test_reports_that_no_test_provokes_fail_the_checks() -> None:
    assert list(unexpected(GOOD, EVERY)) == []
    for line in (
        "[    3.0] WARNING: possible circular locking dependency detected",
        "[    3.0] BUG: sleeping function called from invalid context at mm/slqb.c:1",
        "[    3.0] ODEBUG: free active (active state 0) object type: rcu_head",
        "[    3.0] BUG kmalloc-64 (Not tainted): Right Redzone overwritten",
        "[    3.0] FIX kmalloc-64: Restoring Right Redzone 0xffff888000000040=0xcc",
        "[    3.0] BUG: KFENCE: use-after-free read in ext4_evict_inode+0x1",
    ):
        assert list(unexpected((*GOOD, line), EVERY)) == [line]


@pytest.mark.parametrize("end", ["ok 2 - kfence", "not ok 2 - kfence", "ok 2 kfence # SKIP all"])
def test_a_report_of_kfence_counts_except_in_its_own_tests(end: str) -> None:
    begin, report = "    # Subtest: kfence", "BUG: KFENCE: invalid free in test_double_free+0x1"
    assert list(unexpected((report, begin, report, end, report), EVERY)) == [report] * 2
    assert list(unexpected((begin, report, end), FREE_OF_KFENCE)) == [report]


def test_only_slub_is_booted_again_with_its_own_checks() -> None:
    assert [boot.name for boot in boots_of("slub")] == [TESTS, POISON]
    assert {name: len(boots_of(name)) for name in OTHERS} == dict.fromkeys(OTHERS, 1)
    again = boots_of("slub")[1]
    lines = (
        *(line for line in GOOD if "KFENCE" not in line),
        "test_meminit: failures: 3 out of 40",
    )
    assert failed(lines, again) == {POISON: "it did not run to its end"}
    took = "mem auto-init: SLAB_POISON will take precedence over init_on_alloc/init_on_free"
    assert failed((*lines, took), again) == {}


def test_a_kernel_with_checks_has_another_name_than_the_one_that_is_measured() -> None:
    source = Source(Path("linux.tar.xz"), "6.1.0-1")
    assert set(FRAGMENTS) == set(ALLOCATORS)
    for allocator in ALLOCATORS:
        plain = plan(allocator, source)
        assert check_plan(plain).key != plain.key
        assert check_plan(plain).key.startswith(f"{allocator}-6.1.0-1-")


def test_a_kernel_that_panics_is_shown_with_the_end_of_its_log(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def panics(_qemu: str, _machine: object, folder: Path, _timeout: float) -> BootOutput:
        (folder / "console.log").write_text("[ 1.0] Kernel panic - not syncing\n", "utf-8")
        raise GuestError("qemu left with status 1", "")

    monkeypatch.setattr(checks, "run_machine", panics)
    monkeypatch.setattr(checks, "find_qemu", lambda: QEMU)
    monkeypatch.setattr(checks, "initramfs", lambda *_, **__: b"")
    built = Built("slob-1", "slob", "6.1", "", tmp_path)
    found = checked(built, tmp_path)
    assert not found.passed
    churn = Check(TESTS, "churn", Outcome.FAILED, "qemu left with status 1")
    assert [each for each in found.checks if each.name == "churn"] == [churn]
    assert found.tail == ("[ 1.0] Kernel panic - not syncing",)
    assert found.log.read_text("utf-8").splitlines() == ["== tests", *found.tail]
    kernel_check.show_checks(found)
    said = capsys.readouterr()
    assert "Kernel panic - not syncing" in said.err
    assert str(found.log) in said.err
    assert said.out.count("failed") == 3


def test_a_kernel_that_passed_shows_its_cases_and_what_did_not_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checks = (*results(EVERY, GOOD, None), *without_use("slob"))
    kernel_check.show_checks(CheckedKernel("slob", checks, tmp_path))
    said = capsys.readouterr()
    assert (said.out.count("passed"), said.err) == (7, "")
    assert "75,098" in said.out
    assert "skipped in kfence: test_gfpzero # SKIP Test requires" in said.out
    assert "kfence does not apply: SLOB does not use KFENCE" in said.out


@pytest.mark.slow
@pytest.mark.skipif(not ARCHIVE.is_file(), reason="no source (package linux-source-6.1)")
@pytest.mark.skipif(shutil.which("flex") is None, reason="no flex (package flex)")
@pytest.mark.skipif(shutil.which("bison") is None, reason="no bison (package bison)")
@pytest.mark.skipif(shutil.which("patch") is None, reason="no patch (package patch)")
@pytest.mark.skipif(shutil.which(QEMU) is None, reason="no qemu (package qemu-system-x86)")
@pytest.mark.parametrize("allocator", PATCHED)
def test_a_patched_kernel_passes_the_tests_of_the_kernel(allocator: str) -> None:
    cache = kernel_cache(os.environ)
    wanted = check_plan(plan(allocator, find_source()))
    built = find(wanted.key, cache / FOLDER) or build(wanted, cache / FOLDER, 2, print)
    found = checked(built, cache)
    assert [check for check in found.checks if check.failed] == [], found.log
