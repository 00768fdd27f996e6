# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright drag`: how much longer than it is needed is a program's memory held?

This file is the command line only; `cli.dragging` does the work. docs/drag.md is the manual page,
with the definition of every figure.
"""

from enum import StrEnum
from typing import Annotated

import typer

from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.cli import options

EXAMPLES = """
\b
Examples:
  heapwright drag -- ./program its arguments
  heapwright drag --json drag.json --html drag.html -- ./program
  g++ $(heapwright drag --flags) program.cpp -o rebuilt
  heapwright drag --by instrumented -- ./rebuilt
"""


class Means(StrEnum):
    """How accesses are seen."""

    VALGRIND = "valgrind"
    INSTRUMENTED = "instrumented"


def drag(
    context: typer.Context,
    by: Annotated[
        Means,
        typer.Option(
            help="How accesses are seen: of any program, slowly, or of one that was rebuilt."
        ),
    ] = Means.VALGRIND,
    flags: Annotated[
        bool, typer.Option("--flags", help="Print what a compiler needs to rebuild a program.")
    ] = False,
    calls: Annotated[
        int,
        typer.Option(min=2, max=100, help="Of a chain of calls so many are kept (valgrind only)."),
    ] = 12,
    json_file: options.JsonFile = None,
    html_file: options.HtmlFile = None,
    quiet: options.SentenceAlone = False,
) -> None:
    """Say how much longer than it is needed a program's memory is held, and by which sites."""
    from heapwright.cli.dragging import Options, print_flags, run_drag  # noqa: PLC0415

    command = options.command_after_dashes(context)
    if flags:
        if command is not None:
            raise HeapwrightError("--flags are for a compiler, and run no command")
        print_flags()
        return
    if command is None:
        raise HeapwrightError("there is no command", "heapwright drag -- ./program its arguments")
    status = run_drag(
        Options(
            command=command,
            means=by.value,
            calls=calls,
            json_file=json_file,
            html_file=html_file,
            quiet=quiet,
        )
    )
    if status is not ExitCode.OK:
        raise typer.Exit(int(status))
