# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The work of `heapwright export` and `heapwright import`: traces in the formats of other tools."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import typer

from heapwright.artefacts.profile.measure import Measure
from heapwright.artefacts.stacks.profile import Amount, StackProfile, of_profile
from heapwright.artefacts.stacks.read import tool_of
from heapwright.artefacts.trace.file import TraceFormat, export_wl, import_trace
from heapwright.artefacts.trace.frame import write_parquet
from heapwright.artefacts.trace.processes import check_process, named, processes_of
from heapwright.base.errors import HeapwrightError
from heapwright.base.quantities import several
from heapwright.commands.coverage import read_covered
from heapwright.commands.output import Outputs
from heapwright.profile.stacks import read_named_stacks
from heapwright.report.stacks.dhat import dhat_of
from heapwright.report.stacks.folded import folded_lines
from heapwright.report.stacks.perfetto import perfetto_of
from heapwright.report.stacks.pprof import pprof_of
from heapwright.report.stacks.speedscope import speedscope_of

UNREAD = "pieces of the trace that could not be read (see heapwright trace check)"


OF_CALLS = ("parquet", "wl")
WRITERS: Mapping[str, Callable[[StackProfile], bytes]] = {
    "pprof": pprof_of,
    "speedscope": lambda profile: speedscope_of(profile).encode("utf-8", "backslashreplace"),
    "dhat": lambda profile: dhat_of(profile).encode("utf-8", "backslashreplace"),
    "perfetto": perfetto_of,
}
FOLDED = "folded"
OF_STACKS = (*WRITERS, FOLDED)
AMOUNTS = {
    Measure.BYTES: Amount.BYTES,
    Measure.CALLS: Amount.ALLOCATIONS,
    Measure.PEAK: Amount.AT_PEAK_BYTES,
    Measure.NEVER_FREED: Amount.KEPT_BYTES,
}


@dataclass(frozen=True, slots=True)
class Exports:
    """The files to be written, and the amounts of folded stacks."""

    files: Mapping[str, str | None]
    """By the names of `OF_CALLS` and `OF_STACKS`."""
    measure: Measure | None = None


def export_trace(trace: Path, exports: Exports, process: int | None) -> None:
    """Write the files that are named. Raises HeapwrightError."""
    parquet, wl = (exports.files.get(name) for name in OF_CALLS)
    outputs = Outputs(**exports.files)
    if not any(outputs[name] for name in (*OF_CALLS, *OF_STACKS)):
        *names, last = (f"--{name}" for name in (*OF_CALLS, *OF_STACKS))
        raise HeapwrightError(
            "no output is named", f"use {', '.join(names)} or {last}, each with a FILE"
        )
    outputs.spare(trace)
    if parquet is None and wl is None:
        _export_stacks(trace, outputs, exports.measure, process)
        return
    if (tool := tool_of(trace)) is not None:
        raise HeapwrightError(
            f"{trace} is a file of {tool} and has no single calls",
            f"it can become {', '.join(f'--{name}' for name in OF_STACKS)}",
        )
    check_process(trace, process)
    if (table := outputs["parquet"]) is not None:
        with table.file() as file:
            faults = write_parquet(trace, file, process)
        _tell(parquet, {UNREAD: faults})
    if (workload := outputs["wl"]) is not None:
        with workload.file() as file:
            done = export_wl(trace, file, process)
        processes = () if process is not None else processes_of(trace)
        if len(processes) > 1:
            typer.echo(
                f"{wl}: {len(processes)} processes are written as one: {named(processes)}. "
                "--process N writes one of them.",
                err=True,
            )
        _tell(
            wl,
            {
                "frees of addresses that the trace never allocated, left out": done.unknown_frees,
                "blocks freed because their address was allocated again": done.replaced,
                UNREAD: done.fault_count,
            },
        )
    _export_stacks(trace, outputs, exports.measure, process)


def stacks_of(path: Path, process: int | None = None) -> StackProfile:
    """The call stacks of a trace, of a profile as JSON, or of a file of another tool. Raises
    HeapwrightError."""
    if (tool := tool_of(path)) is not None:
        if process is not None:
            raise HeapwrightError(
                f"{path} is a file of {tool} and has one process", "leave out --process"
            )
        return read_named_stacks(path)
    profile = read_covered(path, process)
    if profile.calls is None:
        raise HeapwrightError(
            f"{path} has no call stacks", "record with --stacks, and export again"
        )
    return of_profile(profile, profile.calls)


def _export_stacks(
    path: Path, outputs: Outputs, measure: Measure | None, process: int | None
) -> None:
    """Write the call stacks in each requested format, or none if one of them is refused."""
    if not any(outputs[name] for name in OF_STACKS):
        return
    profile = stacks_of(path, process)
    contents = {name: writer(profile) for name, writer in WRITERS.items() if outputs[name]}
    if outputs[FOLDED] is not None:
        lines = "".join(folded_lines(profile.calls, _amount(profile, path, measure)))
        contents[FOLDED] = lines.encode("utf-8", "backslashreplace")
    for name, content in contents.items():
        output = outputs[name]
        assert output is not None
        with output.file() as file:
            file.write_bytes(content)


def _amount(profile: StackProfile, path: Path, measure: Measure | None) -> Amount:
    """The amount of a measure. By default all bytes, or what the file has instead."""
    if measure is None:
        return Amount.BYTES if Amount.BYTES in profile.known else profile.main
    if (found := AMOUNTS[measure]) not in profile.known:
        known = ", ".join(each for each, amount in AMOUNTS.items() if amount in profile.known)
        raise HeapwrightError(
            f"{path} does not have the measure {measure}", f"use --measure with one of: {known}"
        )
    return found


def import_file(file: Path, output: Path, source: TraceFormat | None) -> None:
    """Make the trace `output` of `file`. Raises HeapwrightError."""
    if source is None and file.is_file() and (tool := tool_of(file)) is not None:
        raise HeapwrightError(
            f"{file} is a file of {tool}: it has sums for call stacks, and no single calls",
            f"heapwright profile {file} shows it",
        )
    done = import_trace(file, output, source)
    typer.echo(f"{output}: {several(done.events, 'event')} of {several(done.threads, 'thread')}")
    _tell(file, done.odd)


def _tell(what: object, counts: Mapping[str, int]) -> None:
    for odd, count in counts.items():
        if count:
            typer.echo(f"{what}: {odd}: {count:,}", err=True)
