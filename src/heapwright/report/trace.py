# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The content of a trace, for a terminal."""

from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from heapwright.artefacts.trace.file import STOPPED, TraceCheck, TraceFault, TraceInfo, TraceProcess
from heapwright.base.quantities import several

MOST = 20
CLOCKS = {
    "timestamp": "the processor's time-stamp counter",
    "monotonic": "the system's monotonic clock",
    "counted": "none: the events are counted",
}


def print_info(console: Console, path: Path, info: TraceInfo) -> None:
    """The whole of it, threads summed."""
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="dim", overflow="fold")
    table.add_column(overflow="fold")
    for name, value in _lines(path, info):
        table.add_row(name, Text(value))
    console.print(table)
    _print_processes(console, info.processes, info)
    _print_faults(console, info.faults, info.fault_count)


def print_check(console: Console, path: Path, check: TraceCheck, unsealed: int) -> None:
    """The verdict first, then what no checksum covers: blocks that their thread left open."""
    whole = "all of it can be read" if not check.fault_count else "damaged"
    console.print(Text(f"{path}: {whole}; {check.events:,} events, {check.records:,} records"))
    if not check.closed:
        console.print("it was not closed: its program was killed, or it still runs")
    if unsealed:
        console.print(
            f"{several(unsealed, 'block')} of events ended without a checksum: a change within "
            f"{'it' if unsealed == 1 else 'them'} that can still be decoded is not found"
        )
    _print_faults(console, check.faults, check.fault_count)


def _lines(path: Path, info: TraceInfo) -> list[tuple[str, str]]:
    per_event = info.bytes_per_event
    size = f"{info.bytes:,} bytes" + (f", {per_event:.1f} an event" if per_event else "")
    lines = [
        ("trace", f"{path} (format {info.version})"),
        ("size", size),
        ("events", f"{info.events:,} of {several(len(info.threads), 'thread')}"),
        ("clock", CLOCKS.get(info.clock, info.clock)),
    ]
    if info.start_utc_ns:
        begun = datetime.fromtimestamp(info.start_utc_ns / 1e9, UTC)
        lines.append(("begun", f"{begun:%Y-%m-%d %H:%M:%S} UTC"))
    lines += [(name, text) for name, text in _remarks(info) if text]
    return lines


def _stopped(why: str) -> str:
    return f"{STOPPED[why]}: the end of the program is missing" if why in STOPPED else ""


def _remarks(info: TraceInfo) -> list[tuple[str, str]]:
    backwards = sum(thread.clock_backwards for thread in info.threads)
    lost = info.lost + sum(thread.lost for thread in info.threads)
    return [
        ("stacks", "yes" if info.stacks else ""),
        ("sample", f"one block in {info.sample_interval}" if info.sample_interval > 1 else ""),
        ("origin", "imported" if info.imported else "generated" if info.generated else ""),
        ("addresses", "invented: the source had none" if info.invented_addresses else ""),
        ("state", "" if info.closed else "not closed: the program was killed, or still runs"),
        ("stopped", _stopped(info.stop)),
        ("lost", f"{lost:,} events" if lost else ""),
        ("clock went back", f"{backwards:,} times" if backwards else ""),
        ("marks", _marks(info)),
        ("not followed", f"{info.unfollowed:,} child processes" if info.unfollowed else ""),
    ]


def _marks(info: TraceInfo) -> str:
    """The first marks with their times."""
    shown = [f"{mark.name} at {mark.time_ns / 1e9:.3f} s" for mark in info.marks[:MOST]]
    more = info.mark_count - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more else "")


def _print_processes(
    console: Console, processes: tuple[TraceProcess, ...], info: TraceInfo
) -> None:
    events: dict[int, int] = {}
    for thread in info.threads:
        events[thread.process] = events.get(thread.process, 0) + thread.events
    table = Table(box=None, pad_edge=False)
    for name in ("process", "pid", "events", "began as", "command"):
        table.add_column(
            name, justify="left" if name in {"began as", "command"} else "right", overflow="fold"
        )
    for process in processes[:MOST]:
        origin = "" if process.parent is None else f" of {process.parent}"
        command = " ".join(process.arguments) or process.executable
        table.add_row(
            str(process.process),
            str(process.pid),
            f"{events.get(process.process, 0):,}",
            process.cause + origin,
            Text(command, overflow="ellipsis", no_wrap=True),
        )
    console.print(table)
    if len(processes) > MOST:
        console.print(f"and {len(processes) - MOST:,} processes more")


def _print_faults(console: Console, faults: tuple[TraceFault, ...], count: int) -> None:
    for fault in faults[:MOST]:
        console.print(Text(f"byte {fault.offset:,}: {fault.what}"))
    if count > MOST:
        console.print(f"and {count - min(MOST, len(faults)):,} faults more")
