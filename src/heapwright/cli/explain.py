# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright explain`: why is a program's memory what it is?

This file is the command line only; `commands.explain` does the work. docs/reference/explain.md is
the manual.
"""

from pathlib import Path
from typing import Annotated

import typer

from heapwright import commands
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.cli import options

app = options.application()


@app.command("explain", cls=options.CommandAfterDashes)
def explain(
    context: typer.Context,
    trace: Annotated[
        Path | None,
        typer.Argument(
            metavar="[TRACE]",
            help="A trace, complete or still being written; or a long run of a program.",
        ),
    ] = None,
    program: options.ProgramName = None,
    scale: options.Scale = None,
    parameter: options.Parameter = None,
    pid: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=options.LARGEST_PID,
            metavar="PID",
            help="A running process that was started under `heapwright record`; it is stopped for "
            "a moment.",
        ),
    ] = None,
    json_file: options.JsonFile = None,
    output: options.KeptTrace = None,
    stacks: Annotated[
        bool, typer.Option(help="Record call sites, so that a leak has a place in the code.")
    ] = True,
    follow: Annotated[
        bool,
        typer.Option(
            "--follow-children/--no-follow-children",
            help="Record the processes that the command starts, too.",
        ),
    ] = True,
    hours: options.Hours = None,
    allocator: options.UnderForHours = None,
    rest: options.Rest = 0.0,
    vary: options.Vary = None,
    quiet: options.SentenceAlone = False,
) -> None:
    """Find the reason for a program's memory: leak, retention, growth, or none of these.

    Examples:
      heapwright explain -- ls -R /usr
      heapwright explain --pid 4711
      heapwright explain --json why.json T
      heapwright explain --hours 8 --program redis
    """
    command = options.command_after_dashes(context)
    asked = options.program_request(program, scale, parameter)
    if sum(each is not None for each in (trace, pid, command, asked)) != 1:
        raise HeapwrightError(
            "one thing is explained: a command, a program, a running process, or a trace",
            "heapwright explain -- ./program, heapwright explain --program NAME, "
            "heapwright explain --pid N, heapwright explain TRACE",
        )
    if output is not None and command is None and asked is None:
        raise HeapwrightError("-o keeps the trace of a command, and there is none")
    status = commands.explain.run_explanation(
        commands.explain.Options(
            command=command,
            program=asked,
            trace=trace,
            pid=pid,
            json_file=json_file,
            output=output,
            stacks=stacks,
            follow=follow,
            quiet=quiet,
            long=options.long_run_request(hours, allocator, rest, vary),
        )
    )
    if status is not ExitCode.OK:
        raise typer.Exit(int(status))
