# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Was the allocator effective in the processes that did the work? The 1 % rule.

A run is valid only if less than 1 % of its CPU time was used by processes without malloc from the
treatment's allocator. Counted against it are

- processes that reported another provider (a different library, the C library, or a mixture);
- processes that never reported (static, set-user-ID, cleared environment, 32-bit, another C
  library). The kernel reported their time to their parent, or they were seen from outside;
- CPU time of the tree that no process claimed, beyond an allowance. Proven processes use some time
  after their last report, because the kernel must release their memory. An excess below
  UNCLAIMED_FLOOR_S is noise and is ignored. No program starts and ends in so little time, but it
  can be more than 1 % of a command as short as `true`.

Smaller exceptions are listed, and the run stays valid. Pure functions.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from heapwright.artefacts.run.measured import ProcessRecord

LIMIT = 0.01
UNCLAIMED_FLOOR_S = 1e-4
"""CPU seconds."""


@dataclass(frozen=True, slots=True)
class CpuBalance:
    """The CPU seconds of a run's tree, as the runner sums them."""

    total_s: float
    unaccounted_s: float
    allowance_s: float
    unrecorded_processes: int = 0
    """Processes that found the witnesses' file full."""


@dataclass(frozen=True, slots=True)
class Interposition:
    """The finding: `share` of the CPU time was not under the allocator, mostly in `exceptions`."""

    effective: bool
    share: float
    exceptions: tuple[ProcessRecord, ...] = ()
    detail: str = ""


def judge(
    processes: Sequence[ProcessRecord], expected: Path | None, balance: CpuBalance
) -> Interposition:
    """Apply the rule; `expected` is the preloaded library, or None for the C library itself."""
    serves = _expectation(expected)
    exceptions = sorted(
        (process for process in processes if not (process.witnessed and serves(process))),
        key=lambda process: -process.cpu_s,
    )
    excess = balance.unaccounted_s - balance.allowance_s
    unclaimed = excess if excess >= UNCLAIMED_FLOOR_S else 0.0
    known = sum(process.cpu_s for process in processes)
    foreign = sum(process.cpu_s for process in exceptions)
    total = max(balance.total_s, known)
    share = min(1.0, (foreign + unclaimed) / total) if total > 0 else 0.0
    proven = any(process.witnessed and serves(process) for process in processes)
    effective = proven and share < LIMIT
    detail = _detail(processes, exceptions, share, unclaimed)
    return Interposition(effective, share, tuple(exceptions), detail)


def _expectation(expected: Path | None) -> Callable[[ProcessRecord], bool]:
    if expected is None:
        return lambda process: process.provider_is_libc
    known: dict[str, bool] = {}

    def serves(process: ProcessRecord) -> bool:
        provider = process.provider
        if provider is None:
            return False
        if provider not in known:
            known[provider] = _same_file(Path(provider), expected)
        return known[provider]

    return serves


def _same_file(first: Path, second: Path) -> bool:
    """The same device and inode; if a file is no longer readable, the same resolved path."""
    try:
        return first.samefile(second)
    except OSError:
        return first.resolve() == second.resolve()


def _detail(
    processes: Sequence[ProcessRecord],
    exceptions: Sequence[ProcessRecord],
    share: float,
    unclaimed_s: float,
) -> str:
    if not exceptions and not unclaimed_s:
        return ""
    names = {process.pid: Path(process.exe).name for process in processes if process.exe}
    parts = [_exception(process, names) for process in exceptions[:3]]
    if len(exceptions) > 3:
        parts.append(f"{len(exceptions) - 3} more")
    if unclaimed_s:
        parts.append(f"{unclaimed_s:.3g} s of CPU time that no process claimed")
    return f"not effective for {share:.2%} of the CPU time: {'; '.join(parts)}"


def _exception(process: ProcessRecord, names: Mapping[int, str]) -> str:
    parent = names.get(process.ppid)
    nameless = f"a program started by {parent}" if parent else "a short-lived program"
    name = Path(process.exe).name or nameless
    times = f" ({process.count} times)" if process.count > 1 else ""
    if not process.witnessed:
        return f"{name}{times} did not load it"
    return f"{name}{times} gets malloc from {process.provider or 'an unknown object'}"
