# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright history`: how did the figures change over commits?

This file is the command line only; `commands.history` does the work. docs/reference/history.md is
the manual page.
"""

from pathlib import Path
from typing import Annotated

import typer

from heapwright import commands
from heapwright.cli import options
from heapwright.cli.values import parse_fraction

CHANGED = 10

app = options.application()


@app.command("history")
def history(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="The folder of `compare --store FOLDER`.")
    ],
    responses: Annotated[
        list[str] | None,
        typer.Option("--response", metavar="NAME", help="Show this figure only. May be repeated."),
    ] = None,
    error: Annotated[
        str,
        typer.Option(
            metavar="FRACTION", help="Probability of any false alarm in the whole folder."
        ),
    ] = "1%",
    margin: Annotated[
        str | None,
        typer.Option(
            metavar="FRACTION",
            help="Changes up to this fraction are not reported.  [default: 1%; instructions that "
            "repeat 0.1%]",
        ),
    ] = None,
    html_file: Annotated[
        str | None, typer.Option("--html", metavar="FILE", help="Write a page with all curves.")
    ] = None,
    quiet: options.SentenceAlone = False,
) -> None:
    """Show how stored comparisons changed over commits, and find the commits of changes.

    Examples:
      heapwright history measurements
      heapwright history measurements --response time --html history.html
    """
    changed = commands.history.run_history(
        commands.history.Options(
            folder=folder,
            responses=tuple(responses or ()),
            error=parse_fraction(error, "--error"),
            margin=None if margin is None else parse_fraction(margin, "--margin"),
            html_file=html_file,
            quiet=quiet,
        )
    )
    if changed:
        raise typer.Exit(CHANGED)
