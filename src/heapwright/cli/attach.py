# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright attach`: record a process that already runs.

This file is the command line only; `commands.attach` does the work. docs/reference/attach.md is the
manual page.
"""

from pathlib import Path
from typing import Annotated

import typer

from heapwright import commands
from heapwright.base.errors import ExitCode
from heapwright.cli import options
from heapwright.cli.values import parse_size

app = options.application()


@app.command("attach")
def attach(
    pid: Annotated[
        int,
        typer.Argument(metavar="PID", min=1, max=options.LARGEST_PID, help="A running process."),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="TRACE",
            help="The trace. Default: NAME.PID.trace in this folder.",
        ),
    ] = None,
    stacks: options.Stacks = False,
    sample: options.Sample = 1,
    seconds: Annotated[
        float | None,
        typer.Option(metavar="S", min=0.01, help="Stop recording after S seconds."),
    ] = None,
    limit: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Stop recording when the trace has this size."),
    ] = None,
    system: Annotated[
        bool,
        typer.Option(
            "--system/--no-system", help="Also record the memory that the system provides."
        ),
    ] = True,
    clear: Annotated[
        bool,
        typer.Option("--clear", help="Remove what a killed recording left in the process."),
    ] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print problems only.")] = False,
) -> None:
    """Record a process that already runs, and stop again, without a restart.

    Examples:
      heapwright attach --stacks -o T 4711
      heapwright attach --seconds 10 4711
    """
    status = commands.attach.run_attach(
        commands.attach.Options(
            pid=pid,
            output=output,
            stacks=stacks,
            sample=sample,
            limit=None if limit is None else parse_size(limit),
            seconds=seconds,
            system=system,
            clear=clear,
            quiet=quiet,
        )
    )
    if status is not ExitCode.OK:
        raise typer.Exit(int(status))
