# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright trace`: the content of a trace, and whether all of it can be read.

docs/reference/trace.md is the manual page.
"""

from pathlib import Path
from typing import Annotated

import typer

from heapwright import commands
from heapwright.cli import options

HELP = """\
Show the content of a trace, or check all of it.

Examples:
  heapwright trace info T
  heapwright trace check T
"""

app = options.application(
    name="trace",
    help=HELP,
    no_args_is_help=True,
)

Trace = Annotated[Path, typer.Argument(metavar="TRACE", help="A file of heapwright record.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


@app.command()
def info(trace: Trace, as_json: AsJson = False) -> None:
    """Show the content of a trace and how it was recorded. Fast at any size.

    Examples:
      heapwright trace info T
      heapwright trace info T --json
    """
    commands.trace.show_info(trace, as_json=as_json)


@app.command()
def check(trace: Trace, as_json: AsJson = False) -> None:
    """Read a whole trace and report damaged parts. The exit status is 1 if there are any.

    Examples:
      heapwright trace check T
      heapwright trace check T --json
    """
    if not commands.trace.check(trace, as_json=as_json):
        raise typer.Exit(1)
