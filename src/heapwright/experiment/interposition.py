# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Was the allocator effective in the processes that did the work? The 1 % rule.

A run belongs to a treatment only if less than 1 % of its CPU time was used by processes that did
not get malloc from the treatment's allocator. Counted against it are

- processes that reported another provider (a different library, the C library, or a mixture);
- processes that were seen but never reported (static, set-user-ID, cleared environment, 32-bit,
  another C library), with the CPU time they were last seen to have used, which is a lower bound;
- CPU time that the kernel charged to the tree and no process claimed, beyond the allowance for what
  proven processes use after their last word: the kernel's work of taking their memory down. Where
  nothing else hints at an unproven process the allowance counts threefold: it is calibrated, not
  exact, and silent processes that the sampler never meets are rare, a loaded machine is not.

Smaller exceptions are listed, and the run stays valid. Pure functions.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from heapwright.artefacts.runs import Ending, ProcessRecord

LIMIT = 0.01
UNSUSPECTED_FACTOR = 3.0


@dataclass(frozen=True, slots=True)
class CpuBalance:
    """The CPU seconds of a run's tree, as the runner adds them up."""

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
    suspected = (
        bool(exceptions)
        or balance.unrecorded_processes > 0
        or any(process.ending == Ending.VANISHED for process in processes)
    )
    allowance = balance.allowance_s * (1.0 if suspected else UNSUSPECTED_FACTOR)
    unclaimed = max(0.0, balance.unaccounted_s - allowance)
    known = sum(process.cpu_s for process in processes)
    foreign = sum(process.cpu_s for process in exceptions)
    total = max(balance.total_s, known)
    share = min(1.0, (foreign + unclaimed) / total) if total > 0 else 0.0
    proven = any(process.witnessed and serves(process) for process in processes)
    effective = proven and share < LIMIT
    return Interposition(effective, share, tuple(exceptions), _detail(exceptions, share, unclaimed))


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
    """The same device and inode; where one cannot be looked at any more, the same resolved path."""
    try:
        return first.samefile(second)
    except OSError:
        return first.resolve() == second.resolve()


def _detail(exceptions: Sequence[ProcessRecord], share: float, unclaimed_s: float) -> str:
    if not exceptions and not unclaimed_s:
        return ""
    parts = []
    for process in exceptions[:3]:
        name = Path(process.exe).name or f"process {process.pid}"
        times = f" ({process.count} times)" if process.count > 1 else ""
        parts.append(f"{name}{times}: {_reason(process)}")
    if len(exceptions) > 3:
        parts.append(f"{len(exceptions) - 3} more")
    if unclaimed_s:
        parts.append(f"{unclaimed_s:.3g} s of CPU time that no process claimed")
    return f"not effective for {share:.1%} of the CPU time: {'; '.join(parts)}"


def _reason(process: ProcessRecord) -> str:
    if not process.witnessed:
        return "did not load it"
    return f"malloc comes from {process.provider or 'an unknown object'}"
