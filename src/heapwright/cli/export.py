# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright export`: traces for other tools.

This file is the command line only; `commands.trace_formats` does the work. docs/reference/trace.md
is the manual page.
"""

from pathlib import Path
from typing import Annotated

import typer

from heapwright import commands
from heapwright.cli import options

app = options.application()


@app.command("export")
def export(
    trace: Annotated[Path, typer.Argument(metavar="TRACE", help="A file of heapwright record.")],
    parquet: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write the events as a Parquet table; - is stdout."),
    ] = None,
    wl: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write a .wl workload for simulators."),
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
    """Write a trace as a table or in the format of another tool.

    Examples:
      heapwright export T --parquet events.parquet
      heapwright export T --wl load.wl --process 0
    """
    commands.trace_formats.export_trace(trace, parquet, wl, process)
