# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright export`: traces and profiles for other tools.

This file is the command line only; `commands.trace_formats` does the work. docs/reference/trace.md
is the manual page.
"""

from pathlib import Path
from typing import Annotated

import typer

from heapwright import commands
from heapwright.artefacts.profile.measure import Measure
from heapwright.cli import options

app = options.application()


@app.command("export")
def export(
    trace: Annotated[
        Path,
        typer.Argument(
            metavar="TRACE",
            help="A trace, a profile as JSON, or a heap profile of another tool.",
        ),
    ],
    parquet: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write the events as a Parquet table; - is stdout."),
    ] = None,
    wl: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write a .wl workload for simulators."),
    ] = None,
    pprof: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write the call sites for pprof."),
    ] = None,
    folded: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write the call sites as folded stacks."),
    ] = None,
    speedscope: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write the call sites for speedscope."),
    ] = None,
    dhat: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write the call sites for DHAT's viewer."),
    ] = None,
    perfetto: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write a heap profile for Perfetto."),
    ] = None,
    measure: Annotated[
        Measure | None,
        typer.Option(
            help="The amounts of folded stacks. peak is bytes live at the peak. Default: bytes."
        ),
    ] = None,
    process: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            max=options.LARGEST_NUMBER,
            help="Write this process of the trace only.",
        ),
    ] = None,
) -> None:
    """Write a trace as a table, or in the format of another tool.

    Examples:
      heapwright export T --parquet events.parquet
      heapwright export T --wl load.wl --process 0
      heapwright export T --pprof T.pb.gz
      heapwright export T --folded T.folded --measure peak
      heapwright export massif.out.7 --speedscope massif.json
    """
    files = {
        "parquet": parquet,
        "wl": wl,
        "pprof": pprof,
        "folded": folded,
        "speedscope": speedscope,
        "dhat": dhat,
        "perfetto": perfetto,
    }
    commands.trace_formats.export_trace(
        trace, commands.trace_formats.Exports(files, measure), process
    )
