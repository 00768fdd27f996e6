# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright trace`: what a trace says of itself, and whether all of it can be read.

docs/trace.md is the manual page.
"""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    help="Say what a trace holds, or check all of it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

Trace = Annotated[Path, typer.Argument(metavar="TRACE", help="A file of heapwright record.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


@app.command()
def info(trace: Trace, as_json: AsJson = False) -> None:
    """Say what a trace holds: of whom, how much, how it was recorded. Quick at any size."""
    from heapwright.artefacts.trace.file import trace_info  # noqa: PLC0415
    from heapwright.cli.text import printing  # noqa: PLC0415
    from heapwright.report.console import make_console  # noqa: PLC0415
    from heapwright.report.trace import print_info  # noqa: PLC0415

    found = trace_info(trace)
    with printing():
        if as_json:
            typer.echo(found.model_dump_json(indent=2))
        else:
            print_info(make_console(), trace, found)


@app.command()
def check(trace: Trace, as_json: AsJson = False) -> None:
    """Read all of a trace. Leaves with 1 if a piece of it is damaged, and says where."""
    from heapwright.artefacts.trace.file import check_trace  # noqa: PLC0415
    from heapwright.cli.text import printing  # noqa: PLC0415
    from heapwright.report.console import make_console  # noqa: PLC0415
    from heapwright.report.trace import print_check  # noqa: PLC0415

    found = check_trace(trace)
    with printing():
        if as_json:
            typer.echo(found.model_dump_json(indent=2))
        else:
            print_check(make_console(), trace, found)
    if found.fault_count:
        raise typer.Exit(1)
