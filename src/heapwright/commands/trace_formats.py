# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The work of `heapwright export` and `heapwright import`: traces in the formats of other tools."""

from collections.abc import Mapping
from pathlib import Path

import typer

from heapwright.artefacts.trace.file import TraceFormat, export_wl, import_trace
from heapwright.artefacts.trace.frame import write_parquet
from heapwright.artefacts.trace.processes import check_process, named, processes_of
from heapwright.base.errors import HeapwrightError
from heapwright.base.quantities import several
from heapwright.commands.output import Outputs

UNREAD = "pieces of the trace that could not be read (see heapwright trace check)"


def export_trace(trace: Path, parquet: str | None, wl: str | None, process: int | None) -> None:
    """Write the files that are named. Raises HeapwrightError."""
    if parquet is None and wl is None:
        raise HeapwrightError("no output is named", "use --parquet FILE or --wl FILE")
    check_process(trace, process)
    outputs = Outputs(parquet=parquet, wl=wl)
    outputs.spare(trace)
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


def import_file(file: Path, output: Path, source: TraceFormat | None) -> None:
    """Make the trace `output` of `file`. Raises HeapwrightError."""
    done = import_trace(file, output, source)
    typer.echo(f"{output}: {several(done.events, 'event')} of {several(done.threads, 'thread')}")
    _tell(file, done.odd)


def _tell(what: object, counts: Mapping[str, int]) -> None:
    for odd, count in counts.items():
        if count:
            typer.echo(f"{what}: {odd}: {count:,}", err=True)
