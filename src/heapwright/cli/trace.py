# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright trace`: what a trace says of itself, and whether all of it can be read.

docs/reference/trace.md is the manual page.
"""

from pathlib import Path
from typing import Annotated

import typer

from heapwright import commands
from heapwright.cli import options

app = options.application(
    name="trace",
    help="Say what a trace holds, or check all of it.",
    no_args_is_help=True,
)

Trace = Annotated[Path, typer.Argument(metavar="TRACE", help="A file of heapwright record.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


@app.command()
def info(trace: Trace, as_json: AsJson = False) -> None:
    """Say what a trace holds: of whom, how much, how it was recorded. Quick at any size."""
    commands.trace.show_info(trace, as_json=as_json)


@app.command()
def check(trace: Trace, as_json: AsJson = False) -> None:
    """Read all of a trace. Leaves with 1 if a piece of it is damaged, and says where."""
    if not commands.trace.check(trace, as_json=as_json):
        raise typer.Exit(1)
