# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The 1 % rule, on made-up processes."""

from pathlib import Path

import pytest

from heapwright.artefacts.run.measured import ProcessRecord
from heapwright.experiment.interposition import CpuBalance, judge

LIBC = "/lib/libc.so.6"


@pytest.fixture
def library(tmp_path: Path) -> Path:
    path = tmp_path / "liballocator.so"
    path.touch()
    return path


def process(cpu_s: float, provider: str | None, *, witnessed: bool = True) -> ProcessRecord:
    return ProcessRecord(
        pid=1,
        ppid=0,
        exe="/usr/bin/program",
        provider=provider,
        provider_is_libc=provider == LIBC,
        cpu_s=cpu_s,
        witnessed=witnessed,
    )


def balance(total_s: float, unaccounted_s: float = 0.0, allowance_s: float = 0.0) -> CpuBalance:
    return CpuBalance(total_s, unaccounted_s, allowance_s)


def test_all_by_the_allocator(library: Path) -> None:
    finding = judge([process(1.0, str(library))], library, balance(1.0))
    assert finding.effective
    assert (finding.share, finding.exceptions, finding.detail) == (0.0, (), "")


def test_all_by_the_c_library(library: Path) -> None:
    records = [process(1.0, LIBC)]
    assert judge(records, None, balance(1.0)).effective
    refused = judge(records, library, balance(1.0))
    assert not refused.effective
    assert refused.share == 1.0
    assert LIBC in refused.detail


def test_the_library_is_known_by_any_of_its_names(library: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.so"
    link.symlink_to(library)
    hard = tmp_path / "hard.so"
    hard.hardlink_to(library)
    records = [process(1.0, str(link)), process(1.0, str(hard))]
    assert judge(records, library, balance(2.0)).effective


def test_a_library_that_is_gone_is_compared_by_its_path(tmp_path: Path) -> None:
    gone = tmp_path / "gone.so"
    assert judge([process(1.0, str(gone))], gone, balance(1.0)).effective
    assert not judge([process(1.0, str(tmp_path / "other.so"))], gone, balance(1.0)).effective


@pytest.mark.parametrize(("static_s", "effective"), [(0.0099, True), (0.0101, False)])
def test_the_limit_is_one_per_cent(library: Path, static_s: float, effective: bool) -> None:
    records = [
        process(1.0 - static_s, str(library)),
        process(static_s, None, witnessed=False),
    ]
    finding = judge(records, library, balance(1.0))
    assert finding.effective is effective
    assert finding.share == pytest.approx(static_s)
    assert finding.exceptions == (records[1],)
    assert "did not load it" in finding.detail


def test_small_exceptions_add_up(library: Path) -> None:
    records = [
        process(0.982, str(library)),
        process(0.006, None, witnessed=False),
        process(0.006, LIBC),
        process(0.006, f"mixed: {library}, {LIBC}"),
    ]
    finding = judge(records, library, balance(1.0))
    assert not finding.effective
    assert len(finding.exceptions) == 3


def test_unclaimed_time_beyond_the_allowance_counts_as_ineffective(library: Path) -> None:
    records = [process(0.95, str(library))]
    assert judge(records, library, balance(1.0, 0.05, 0.045)).effective
    refused = judge(records, library, balance(1.0, 0.05, 0.03))
    assert not refused.effective
    assert refused.share == pytest.approx(0.02)
    assert "no process claimed" in refused.detail


def test_microseconds_that_no_process_claimed_fail_no_short_command() -> None:
    records = [process(670e-6, LIBC)]
    finding = judge(records, None, balance(678e-6, 107.84e-6, 100e-6))
    assert finding.effective
    assert (finding.share, finding.detail) == (0.0, "")
    assert not judge(records, None, balance(800e-6, 210e-6, 100e-6)).effective


def test_the_floor_excuses_no_program() -> None:
    records = [process(670e-6, LIBC), process(90e-6, None, witnessed=False)]
    assert not judge(records, None, balance(760e-6)).effective


def test_nothing_is_proven_without_a_proof(library: Path) -> None:
    assert not judge([], library, balance(1.0, 1.0, 9.0)).effective
    assert not judge([], None, balance(0.0)).effective
    assert not judge([process(0.0, None, witnessed=False)], None, balance(0.0)).effective
    assert judge([process(0.0, LIBC)], None, balance(0.0)).effective


def test_children_that_the_kernel_did_not_charge_to_the_tree(library: Path) -> None:
    """A parent that ignores SIGCHLD: the processes know of more time than the sum of the waits."""
    records = [process(1.0, str(library)), process(0.5, LIBC)]
    assert judge(records, library, balance(1.0)).share == pytest.approx(0.5 / 1.5)


def test_the_detail_names_the_largest_and_counts_the_rest(library: Path) -> None:
    records = [process(1.0 + number, None, witnessed=False) for number in range(6)]
    finding = judge([process(1.0, str(library)), *records], library, balance(22.0))
    assert [each.cpu_s for each in finding.exceptions] == [6.0, 5.0, 4.0, 3.0, 2.0, 1.0]
    assert "3 more" in finding.detail


def test_a_program_that_was_never_met_is_named_by_its_parent(library: Path) -> None:
    parent = process(1.0, str(library)).model_copy(update={"pid": 7, "exe": "/bin/dash"})
    child = process(1.0, None, witnessed=False).model_copy(update={"ppid": 7, "exe": ""})
    finding = judge([parent, child], library, balance(2.0))
    assert "a program started by dash" in finding.detail
