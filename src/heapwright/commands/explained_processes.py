# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Selects the processes of a trace to explain, and joins their explanations.

The answer is that of the process with the most important finding. Other processes that lose memory
are named beside it. Processes without a call of malloc do not count.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from heapwright import __version__
from heapwright.artefacts.explanation.document import Ending, Explanation, Finding, Kind
from heapwright.artefacts.profile.document import Profile
from heapwright.artefacts.trace.file import TraceInfo, TraceProcess, trace_info
from heapwright.commands.coverage import covered
from heapwright.explain.evidence import Facts
from heapwright.explain.judge import LEAST_LOST_ONCE, explain, weight
from heapwright.explain.leakscan import LIBRARY, Reach
from heapwright.explain.sentence import also_loses, more_lose, one_of
from heapwright.profile.run import profile_trace
from heapwright.report.profile.missing_data import remarks

BUSY_PART = 100
MOST_JUDGED = 8
MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class Seen:
    """The input: a trace, the end of the recording if it is known, and the result of the search."""

    trace: Path
    ending: Ending | None = None
    reaches: Mapping[int, Reach] = field(default_factory=dict)
    pid: int | None = None
    """The requested process; null: any."""
    environment: Mapping[str, str] | None = None
    """Of that process; null: the trace knows it."""
    root: Path | None = None
    """The root folder of that process, if it still runs."""
    failed: bool = False
    """The recorded program broke a rule of its program file."""


@dataclass(frozen=True, slots=True)
class _Judged:
    """One process, explained; null: a trace without processes."""

    process: TraceProcess | None
    found: Explanation
    profile: Profile

    @property
    def leak(self) -> Finding | None:
        return next((each for each in self.found.findings if each.kind is Kind.LEAK), None)


def judged(seen: Seen) -> tuple[Explanation, list[str]]:
    """The explanation of a trace, and notes on what the trace lacks."""
    info = trace_info(seen.trace)
    calls = _calls(info)
    processes = _busy(info, calls, seen.reaches) if seen.pid is None else _of_pid(info, seen.pid)
    several = len(info.processes) > 1
    all_judged = [
        _of_process(seen, info, each, each.process if each and several else None)
        for each in processes
    ]
    first = max(all_judged, key=lambda each: weight(each.found))  # the first of equals
    found = first.found.model_copy(update={"heapwright_version": __version__})
    if first.process is not None and several:
        number = first.process.process
        said = [found.sentence]
        if len(+calls) > 1:
            said.append(one_of(_name(first.process), len(+calls)))
        if seen.pid is None:
            said += _others(all_judged, first, seen.reaches)
        found = found.model_copy(update={"process": number, "sentence": " ".join(said)})
    return found, remarks(first.profile)


def _others(all_judged: list[_Judged], first: _Judged, reaches: Mapping[int, Reach]) -> list[str]:
    """Sentences about the other processes that lose memory."""
    losing = [each for each in all_judged if each is not first and each.leak and each.process]
    losing.sort(key=lambda each: weight(each.found), reverse=True)
    told = [
        also_loses(_name(each.process), each.leak)
        for each in losing[:MOST_NAMED]
        if each.process and each.leak
    ]
    shown = {each.process.process for each in all_judged if each.process}
    more = len(losing) - len(told)
    more += sum(
        process not in shown and reach.summary.unreachable_bytes >= LEAST_LOST_ONCE
        for process, reach in reaches.items()
    )
    return [*told, *([more_lose(more)] if more else [])]


def _name(process: TraceProcess) -> str:
    """`1 (worker, pid 4711)`; the number is that of --process."""
    name = Path(process.executable).name or "".join(process.arguments[:1]) or "unknown"
    return f"{process.process} ({name}, pid {process.pid})"


def _of_process(
    seen: Seen, info: TraceInfo, process: TraceProcess | None, only: int | None
) -> _Judged:
    reach = seen.reaches.get(process.process) if process else None
    environment = seen.environment
    if environment is None:
        environment = info.accounts.environment if info.accounts else {}
    begin = process.start_ns / 1e9 if process else 0.0
    last = max((thread.last_ns for thread in info.threads), default=0)
    ended = process is not None and process.end_ns is not None and process.end_ns <= last
    profile = covered(profile_trace(seen.trace, only, seen.root), seen.trace)
    if info.stop != "none" and not ended:  # blocks live at that time may have been freed later
        facts = Facts(begin_s=begin, end_s=last / 1e9, environment=environment)
    else:
        ending = (
            _ending(info, process)
            if seen.ending is None or (process and process.parent is not None and not seen.pid)
            else seen.ending
        )
        facts = Facts(
            ending=ending,
            reachability=None if reach is None else reach.summary,
            lost=None if reach is None else reach.lost,
            begin_s=begin,
            end_s=_end_s(info, process, profile)
            if reach is None
            else (reach.since_utc_ns - info.start_utc_ns) / 1e9,
            environment=environment,
        )
    return _Judged(process, explain(profile, facts), profile)


def _end_s(info: TraceInfo, process: TraceProcess | None, profile: Profile) -> float | None:
    """When the process ended, by its trace. None: not known, or the process waited there for a
    search."""
    if process is None or process.end_ns is None or _ending(info, process) is not Ending.EXITED:
        return None
    objects = profile.system.objects if profile.system else ()
    waited = any(Path(each).name == f"libheapwright-{LIBRARY}.so" for each in objects)
    return None if waited else process.end_ns / 1e9


def _of_pid(info: TraceInfo, pid: int) -> list[TraceProcess | None]:
    """The program that the process is now."""
    return [next((each for each in reversed(info.processes) if each.pid == pid), None)]


def _calls(info: TraceInfo) -> Counter[int]:
    """Of each process."""
    calls = Counter[int]()
    for thread in info.threads:
        calls[thread.process] += thread.events
    return calls


def _busy(
    info: TraceInfo, calls: Counter[int], reaches: Mapping[int, Reach]
) -> list[TraceProcess | None]:
    """The processes to judge, the one with most calls first. These make a large part of the
    calls, or a search found lost blocks in them."""
    ordered = sorted(info.processes, key=lambda each: -calls[each.process])
    busy = [each for each in ordered if calls[each.process] * BUSY_PART >= calls.total()]
    found = busy[:MOST_JUDGED]
    lost = [
        each
        for each in ordered
        if each not in found
        and each.process in reaches
        and reaches[each.process].summary.unreachable_bytes
    ]
    return [*found, *lost[:MOST_JUDGED]] or [None]


def _ending(info: TraceInfo, process: TraceProcess | None) -> Ending:
    """As far as the trace tells."""
    if process is None or info.imported or info.generated:
        return Ending.UNKNOWN
    if process.end_ns is not None:
        return Ending.EXITED
    return Ending.KILLED if info.closed else Ending.RUNNING
