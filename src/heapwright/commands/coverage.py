# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Which processes of a recorded command are in its trace, and why others are not.

The trace has an account of each process: the provider of its malloc, and its processor time. Other
facts come from the files of the programs, if they are still on this machine.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from heapwright.artefacts.profile.asked_moments import NO_MOMENTS, AskedMoments
from heapwright.artefacts.profile.document import Profile
from heapwright.artefacts.run.coverage import Cause, Coverage, CoveredProcess
from heapwright.artefacts.run.foreign_heaps import GO, foreign_heap_of, is_opened
from heapwright.artefacts.trace.file import (
    TraceAccount,
    TraceAccounts,
    TraceInfo,
    TraceProcess,
    trace_info,
)
from heapwright.base import native
from heapwright.experiment.command_check import machine_of
from heapwright.experiment.obstacles import Obstacle, is_go_program, obstacle_of
from heapwright.profile.reader import is_document, read_profile
from heapwright.profile.run import profile_trace

NS = 1e9
_CAUSES = {
    Obstacle.STATIC: Cause.STATIC,
    Obstacle.PRIVILEGED: Cause.PRIVILEGED,
    Obstacle.OTHER_MACHINE: Cause.OTHER_MACHINE,
    Obstacle.OTHER_C_LIBRARY: Cause.OTHER_C_LIBRARY,
}


def coverage_of(
    info: TraceInfo, libraries: Sequence[str] = (), process: int | None = None
) -> Coverage | None:
    """The coverage of the command's processes; None if the trace has no accounts.

    `libraries` are mapped in one process: that of this number, or the one that makes most calls.
    """
    if info.accounts is None:
        return None
    accounts = info.accounts
    looked_at = busiest_process(info) if process is None else _numbered(info, process)
    processes = [
        _process(each, accounts, libraries if _is_account_of(each, looked_at) else ())
        for each in accounts.processes
    ]
    known = sum(each.cpu_s for each in processes)
    total = accounts.cpu_ns / NS
    return Coverage(
        cpu_s=total,
        unclaimed_cpu_s=max(0.0, total - known - accounts.allowance_ns / NS),
        processes=tuple(sorted(processes, key=lambda each: -each.cpu_s)),
    )


def covered(profile: Profile, trace: Path) -> Profile:
    """The profile of a trace, with the coverage of the command that was recorded."""
    libraries = () if profile.system is None else profile.system.objects
    found = coverage_of(trace_info(trace), libraries, profile.provenance.selected)
    return profile.model_copy(update={"coverage": found})


def read_covered(
    path: Path, process: int | None = None, asked: AskedMoments = NO_MOMENTS
) -> Profile:
    """The profile that a file holds or leads to, a trace's with its coverage. Raises
    HeapwrightError."""
    return (
        read_profile(path, process, asked)
        if is_document(path)
        else covered(profile_trace(path, process, asked=asked), path)
    )


def busiest_process(info: TraceInfo) -> TraceProcess | None:
    """The process that makes most calls."""
    calls: dict[int, int] = {}
    for thread in info.threads:
        calls[thread.process] = calls.get(thread.process, 0) + thread.events
    return max(info.processes, key=lambda each: calls.get(each.process, 0), default=None)


def _numbered(info: TraceInfo, number: int) -> TraceProcess | None:
    return next((each for each in info.processes if each.process == number), None)


def _is_account_of(account: TraceAccount, process: TraceProcess | None) -> bool:
    """Programs that replace each other by exec have one process number and several accounts."""
    if process is None or account.pid != process.pid:
        return False
    return not process.executable or account.executable == process.executable


def _process(
    account: TraceAccount, accounts: TraceAccounts, libraries: Iterable[str]
) -> CoveredProcess:
    return CoveredProcess(
        pid=account.pid,
        parent_pid=account.parent_pid,
        executable=account.executable,
        count=account.count,
        cpu_s=account.cpu_ns / NS,
        peak_resident_bytes=account.peak_bytes or None,
        recorded=account.recorded,
        cause=None if account.recorded else _cause(account),
        provider=account.provider,
        own_heap=_own_heap(account.executable, libraries, accounts.environment),
    )


def _cause(account: TraceAccount) -> Cause:
    if account.served:
        return Cause.NOT_FOLLOWED
    if account.witnessed:
        return Cause.OWN_MALLOC
    if not account.executable:
        return Cause.NOT_LOADED
    found = obstacle_of(Path(account.executable), machine_of(native.witness()))
    return Cause.NOT_LOADED if found is None else _CAUSES[found]


def _own_heap(executable: str, libraries: Iterable[str], environment: Mapping[str, str]) -> str:
    heap = foreign_heap_of(executable, libraries)
    if heap is None and executable and is_go_program(Path(executable)):
        heap = GO
    return "" if heap is None or is_opened(heap, environment) else heap.runtime
