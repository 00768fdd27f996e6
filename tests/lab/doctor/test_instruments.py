# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What there is to measure with, on machines made up."""

import errno

import pytest

from heapwright.artefacts.checkup.document import Finding
from heapwright.artefacts.run.provenance import Allocator, Kind
from heapwright.doctor import instruments

from .conftest import MakeMachine


@pytest.mark.parametrize(
    ("counters", "paranoid", "finding"),
    [
        (frozenset({"cycles", "instructions"}), "2", Finding.GOOD),
        (frozenset(), "4", Finding.WARNING),
        (frozenset(), "2", Finding.NOTE),
        (None, "2", Finding.UNKNOWN),
    ],
)
def test_counters(
    machine: MakeMachine, counters: frozenset[str] | None, paranoid: str, finding: Finding
) -> None:
    check = instruments.counters(machine({instruments.PARANOID: paranoid}, counters=counters))
    assert check.finding is finding
    if counters:
        assert check.says == "cycles, instructions"


def test_counters_that_a_container_refuses(machine: MakeMachine) -> None:
    files = {instruments.PARANOID: "2"}
    refused = instruments.counters(machine(files, counters=frozenset(), perf_error=errno.EPERM))
    assert refused.finding is Finding.WARNING
    assert "perf_event_open is refused (Operation not permitted)" in refused.says
    assert "under valgrind instead" in refused.says
    assert "--cap-add=PERFMON" in refused.advice
    none = instruments.counters(machine(files, counters=frozenset(), perf_error=0))
    assert none.finding is Finding.NOTE
    seen = machine(files, counters=frozenset({"cycles"}), perf_error=errno.EPERM)
    assert instruments.counters(seen).finding is Finding.GOOD


def test_valgrind(machine: MakeMachine) -> None:
    assert instruments.valgrind(machine({})).finding is Finding.WARNING
    there = machine({}, find=lambda name: f"/bin/{name}")
    assert instruments.valgrind(there).says == "/bin/valgrind"


@pytest.mark.parametrize(
    ("scope", "finding"),
    [
        (None, Finding.GOOD),
        ("0", Finding.GOOD),
        ("1", Finding.GOOD),
        ("2", Finding.WARNING),
        ("3", Finding.WARNING),
    ],
)
def test_ptrace(machine: MakeMachine, scope: str | None, finding: Finding) -> None:
    files = {} if scope is None else {instruments.PTRACE: scope}
    assert instruments.ptrace(machine(files)).finding is finding


@pytest.mark.parametrize(
    ("scope", "error", "finding", "advice"),
    [
        ("1", errno.EPERM, Finding.WARNING, "--cap-add=SYS_PTRACE"),
        (None, errno.ENOSYS, Finding.WARNING, "--cap-add=SYS_PTRACE"),
        ("2", errno.EPERM, Finding.WARNING, "yama.ptrace_scope=1"),
        ("2", 0, Finding.GOOD, ""),
        (None, 0, Finding.GOOD, ""),
    ],
)
def test_ptrace_that_was_tried(
    machine: MakeMachine, scope: str | None, error: int, finding: Finding, advice: str
) -> None:
    files = {} if scope is None else {instruments.PTRACE: scope}
    check = instruments.ptrace(machine(files, ptrace_error=error))
    assert check.finding is finding
    assert advice in check.advice


def test_peers(machine: MakeMachine) -> None:
    there = Allocator(name="jemalloc", kind=Kind.PEER)
    gone = Allocator(
        name="mimalloc",
        kind=Kind.PEER,
        usable=False,
        effective=False,
        reason="not installed (package libmimalloc2.0)",
    )
    own = Allocator(name="lea", kind=Kind.COMPOSED)
    assert instruments.peers(machine({})).finding is Finding.UNKNOWN
    assert instruments.peers(machine({}, allocators=(own, there))).finding is Finding.GOOD
    some = instruments.peers(machine({}, allocators=(own, there, gone)))
    assert (some.finding, some.says) == (Finding.NOTE, "jemalloc")
    assert "libmimalloc2.0" in some.advice
    also = gone.model_copy(update={"name": "other"})
    both = instruments.peers(machine({}, allocators=(there, gone, also)))
    assert both.advice.startswith("mimalloc, other: not installed")
    assert instruments.peers(machine({}, allocators=(gone,))).finding is Finding.WARNING


def test_settings(machine: MakeMachine) -> None:
    assert instruments.settings(machine({})).finding is Finding.GOOD
    check = instruments.settings(machine({}, settings={"MALLOC_CONF": "x"}))
    assert check.finding is Finding.WARNING
    assert "unset MALLOC_CONF" in check.advice
