# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The processes of a trace, for verbs that take one of them or join all.

Figures are those of the process that was taken. Where a trace has several, the user must see which
one was taken and which were not.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from heapwright.artefacts.trace.file import Count, trace_info
from heapwright.base.errors import HeapwrightError
from heapwright.base.quantities import several

MOST = 5
"""Processes that a sentence names; `heapwright trace info` lists all."""
LONGEST = 48


class RecordedProcess(BaseModel):
    """A process of a trace, and how much of the trace is its own."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    process: Annotated[Count, Field(description="Its number in the trace")]
    pid: Count
    events: Annotated[Count, Field(description="Its recorded calls")]
    command: Annotated[
        tuple[str, ...], Field(description="Its arguments, else its executable; may be empty")
    ]


def processes_of(trace: Path) -> tuple[RecordedProcess, ...]:
    """The processes that made calls, those with most calls first. Raises TraceError."""
    info = trace_info(trace)
    events: Counter[int] = Counter()
    for thread in info.threads:
        events[thread.process] += thread.events
    found = [
        RecordedProcess(
            process=each.process,
            pid=each.pid,
            events=events[each.process],
            command=each.arguments or ((each.executable,) if each.executable else ()),
        )
        for each in info.processes
        if events[each.process]
    ]
    return tuple(sorted(found, key=lambda each: (-each.events, each.process)))


def check_process(trace: Path, number: int | None) -> None:
    """Refuse the number of a process that made no calls. Raises HeapwrightError."""
    if number is None:
        return
    found = processes_of(trace)
    if found and number not in [each.process for each in found]:
        raise HeapwrightError(
            f"{trace} has no process {number} that made calls",
            f"it has {named(found)}; `heapwright trace info {trace}` lists them",
        )


def told(
    processes: Sequence[RecordedProcess], replayed: int, choice: str = "--process NUMBER"
) -> str:
    """Which process is replayed and which are not; empty where there is no choice."""
    if len(processes) < 2:
        return ""
    mine = [each for each in processes if each.process == replayed]
    others = [each for each in processes if each.process != replayed]
    return (
        f"One process of {len(processes)} is replayed: {named(mine)}. "
        f"Not replayed: {named(others)}. {choice} replays another."
    )


def named(processes: Sequence[RecordedProcess]) -> str:
    """`3 (sort -u, 1,234 calls), 1 (sh -c make, 56 calls) and 2 more`."""
    texts = [
        f"{each.process} ({_brief(each.command)}, {several(each.events, 'call')})"
        for each in processes[:MOST]
    ]
    more = len(processes) - len(texts)
    return ", ".join(texts) + (f" and {more:,} more" if more else "")


def _brief(command: Sequence[str]) -> str:
    text = " ".join(" ".join(command).split()) or "unknown command"
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
