# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The work of `heapwright export` and `heapwright import`: traces in the formats of other tools."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import typer

from heapwright.artefacts.profile.measure import Measure
from heapwright.artefacts.trace.file import TraceFormat, export_wl, import_trace
from heapwright.artefacts.trace.frame import write_parquet
from heapwright.artefacts.trace.processes import check_process, named, processes_of
from heapwright.base.errors import HeapwrightError
from heapwright.base.quantities import several
from heapwright.commands.coverage import read_covered
from heapwright.commands.output import Outputs
from heapwright.report.stacks.folded import folded_lines
from heapwright.report.stacks.pprof import pprof_of

UNREAD = "pieces of the trace that could not be read (see heapwright trace check)"


@dataclass(frozen=True, slots=True)
class Exports:
    """The files to be written."""

    parquet: str | None = None
    wl: str | None = None
    pprof: str | None = None
    folded: str | None = None
    measure: Measure = Measure.BYTES


def export_trace(trace: Path, exports: Exports, process: int | None) -> None:
    """Write the files that are named. Raises HeapwrightError."""
    parquet, wl = exports.parquet, exports.wl
    outputs = Outputs(parquet=parquet, wl=wl, pprof=exports.pprof, folded=exports.folded)
    if all(outputs[name] is None for name in ("parquet", "wl", "pprof", "folded")):
        raise HeapwrightError(
            "no output is named", "use --parquet, --wl, --pprof or --folded, each with a FILE"
        )
    outputs.spare(trace)
    if parquet is None and wl is None:
        _export_calls(trace, outputs, exports.measure, process)
        return
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
    _export_calls(trace, outputs, exports.measure, process)


def _export_calls(path: Path, outputs: Outputs, measure: Measure, process: int | None) -> None:
    """Write the call sites of a trace, or of a profile as JSON."""
    pprof, folded = outputs["pprof"], outputs["folded"]
    if pprof is None and folded is None:
        return
    profile = read_covered(path, process)
    calls = profile.calls
    if calls is None:
        raise HeapwrightError(
            f"{path} has no call stacks", "record with --stacks, and export again"
        )
    if pprof is not None:
        with pprof.file() as file:
            file.write_bytes(pprof_of(profile, calls))
    if folded is not None:
        folded.write("".join(folded_lines(calls, measure)))


def import_file(file: Path, output: Path, source: TraceFormat | None) -> None:
    """Make the trace `output` of `file`. Raises HeapwrightError."""
    done = import_trace(file, output, source)
    typer.echo(f"{output}: {several(done.events, 'event')} of {several(done.threads, 'thread')}")
    _tell(file, done.odd)


def _tell(what: object, counts: Mapping[str, int]) -> None:
    for odd, count in counts.items():
        if count:
            typer.echo(f"{what}: {odd}: {count:,}", err=True)
