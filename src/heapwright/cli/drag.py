# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright drag`: how much longer than it is needed is a program's memory held?

This file is the command line only; `commands.drag` does the work. docs/reference/drag.md is the
manual page, with the definition of every figure.
"""

from enum import StrEnum
from typing import Annotated

import typer

from heapwright import commands
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.cli import options


class Instrument(StrEnum):
    """How accesses are observed."""

    VALGRIND = "valgrind"
    INSTRUMENTED = "instrumented"


app = options.application()


@app.command("drag", cls=options.CommandAfterDashes)
def drag(
    context: typer.Context,
    by: Annotated[
        Instrument,
        typer.Option(
            help="valgrind observes any program, slowly. instrumented needs a rebuilt program."
        ),
    ] = Instrument.VALGRIND,
    flags: Annotated[
        bool, typer.Option("--flags", help="Print the compiler flags that rebuild a program.")
    ] = False,
    calls: Annotated[
        int,
        typer.Option(
            min=2,
            max=100,
            help="The number of calls that are kept of each call chain (valgrind only).",
        ),
    ] = 12,
    json_file: options.JsonFile = None,
    html_file: options.HtmlFile = None,
    quiet: options.SentenceAlone = False,
) -> None:
    """Show how much longer than needed a program holds its memory, and at which call sites.

    Examples:
      heapwright drag -- ls -R /usr/include
      heapwright drag --json drag.json --html drag.html -- ./program
      heapwright drag --by instrumented -- ./rebuilt
    """
    command = options.command_after_dashes(context)
    if flags:
        if command is not None:
            raise HeapwrightError("--flags prints compiler flags and takes no command")
        commands.drag.print_flags()
        return
    if command is None:
        raise HeapwrightError("there is no command", "heapwright drag -- ./program its arguments")
    status = commands.drag.run_drag(
        commands.drag.Options(
            command=command,
            instrument=by.value,
            calls=calls,
            json_file=json_file,
            html_file=html_file,
            quiet=quiet,
        )
    )
    if status is not ExitCode.OK:
        raise typer.Exit(int(status))
