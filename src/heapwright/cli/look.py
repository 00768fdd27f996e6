# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright look`: what is resident in a running process, and why?

This file is the command line only; `commands.look` does the work. docs/reference/look.md is the
manual page.
"""

from typing import Annotated

import typer

from heapwright import commands
from heapwright.base.errors import ExitCode
from heapwright.cli import options

app = options.application()


@app.command("look")
def look(
    target: Annotated[
        str,
        typer.Argument(metavar="PID|CORE", help="A running process, or a core file."),
    ],
    pause: Annotated[
        bool,
        typer.Option(
            "--pause",
            help="Stop the process while its memory is copied, for figures of one moment.",
        ),
    ] = False,
    leaks: Annotated[
        bool,
        typer.Option(help="Search for live blocks to which no pointer leads."),
    ] = True,
    json_file: options.JsonFile = None,
    quiet: options.SentenceAlone = False,
) -> None:
    """Show what is resident in a running process or a core file, and why.

    Examples:
      heapwright look 4711
      heapwright look --pause --json look.json 4711
      heapwright look core.4711
    """
    status = commands.look.run_look(
        commands.look.Options(
            target=target, pause=pause, leaks=leaks, json_file=json_file, quiet=quiet
        )
    )
    if status is not ExitCode.OK:
        raise typer.Exit(int(status))
