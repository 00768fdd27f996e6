# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright export` and `heapwright import`: traces for other tools, and from them.

docs/trace.md is the manual page.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from heapwright.artefacts.trace.file import TraceFormat
from heapwright.base.errors import HeapwrightError
from heapwright.base.quantities import several

UNREAD = "pieces of the trace that could not be read (see heapwright trace check)"


def export(
    trace: Annotated[Path, typer.Argument(metavar="TRACE", help="A file of heapwright record.")],
    parquet: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write the events as a Parquet table; - is stdout."),
    ] = None,
    wl: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write a .wl workload, for the simulators that run it."),
    ] = None,
    process: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, max=2**32 - 2, help="Only that process of the trace."),
    ] = None,
) -> None:
    """Write a trace in a format of others."""
    from heapwright.cli.output import Outputs  # noqa: PLC0415

    if parquet is None and wl is None:
        raise HeapwrightError("nothing was asked for", "say --parquet FILE or --wl FILE")
    outputs = Outputs(parquet=parquet, wl=wl)
    outputs.spare(trace)
    if (table := outputs["parquet"]) is not None:
        from heapwright.artefacts.trace.frame import write_parquet  # noqa: PLC0415

        with table.file() as file:
            faults = write_parquet(trace, file, process)
        _tell(parquet, {UNREAD: faults})
    if (workload := outputs["wl"]) is not None:
        from heapwright.artefacts.trace.file import export_wl  # noqa: PLC0415

        with workload.file() as file:
            done = export_wl(trace, file, process)
        _tell(
            wl,
            {
                "frees of what the trace never gave out, left out": done.unknown_frees,
                "blocks freed because their address was given out again": done.replaced,
                UNREAD: done.fault_count,
            },
        )


def _tell(what: object, counts: Mapping[str, int]) -> None:
    for odd, count in counts.items():
        if count:
            typer.echo(f"{what}: {odd}: {count:,}", err=True)


def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A .wl, .mtrace or Android trace.")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="TRACE", help="The new trace.")],
    source: Annotated[
        TraceFormat | None,
        typer.Option("--format", help="What FILE is; by default what its name ends with."),
    ] = None,
) -> None:
    """Make a trace of a file that another tool recorded."""
    from heapwright.artefacts.trace.file import import_trace  # noqa: PLC0415

    done = import_trace(file, output, source)
    typer.echo(f"{output}: {several(done.events, 'event')} of {several(done.threads, 'thread')}")
    _tell(file, done.odd)
