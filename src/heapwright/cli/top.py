# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright top`: watch the memory of a running process.

This file is the command line only; `commands.top` does the work. docs/reference/top.md is the
manual page.
"""

from typing import Annotated

import typer

from heapwright import commands
from heapwright.base.errors import ExitCode
from heapwright.cli import options

app = options.application()


@app.command("top")
def top(
    pid: Annotated[
        int,
        typer.Argument(metavar="PID", min=1, max=options.LARGEST_PID, help="A running process."),
    ],
    interval: Annotated[
        float,
        typer.Option(metavar="S", min=0.1, max=3600, help="Seconds between two readings."),
    ] = 1.0,
    once: Annotated[bool, typer.Option("--once", help="Print one reading and end.")] = False,
    by_site: Annotated[
        bool,
        typer.Option(
            "--by-site", help="Show the call sites of a process that is sampled or recorded."
        ),
    ] = False,
) -> None:
    """Watch a running process: resident, live and held memory, rates, block sizes.

    Examples:
      heapwright top 4711
      heapwright top --once 4711
      heapwright top --by-site 4711
    """
    status = commands.top.run_top(
        commands.top.Options(pid=pid, interval_s=interval, once=once, by_site=by_site)
    )
    if status is not ExitCode.OK:
        raise typer.Exit(int(status))
