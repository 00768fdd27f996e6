# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright profile`: what does a program ask of malloc?

This file is the command line only; `cli.profiling` does the work. docs/profile.md is the manual
page, with the definition of every figure.
"""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from heapwright.artefacts.errors import ExitCode, HeapwrightError

COMMAND = "heapwright.command"
EXAMPLES = """
\b
Examples:
  heapwright profile -- ./program its arguments
  heapwright profile --html profile.html T
  heapwright profile -n 30 --json profile.json -- ./program
  heapwright profile --compare before.json after.json
"""


class CommandAfterDashes(TyperCommand):
    """Keeps what follows `--` apart, as a command to run; options may stand anywhere before it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if "--" in args:
            place = args.index("--")
            ctx.meta[COMMAND] = tuple(args[place + 1 :])
            args = args[:place]
        return super().parse_args(ctx, args)


def profile(
    context: typer.Context,
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[TRACE]", help="A trace; or two with --compare, or their JSON."),
    ] = None,
    json_file: Annotated[
        str | None,
        typer.Option("--json", metavar="FILE", help="Write everything as JSON; - is stdout."),
    ] = None,
    html_file: Annotated[
        str | None,
        typer.Option("--html", metavar="FILE", help="Write a page; it needs no network."),
    ] = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="Show what changed from the first to the second.")
    ] = False,
    process: Annotated[
        int | None,
        typer.Option(min=0, metavar="NUMBER", help="One process of the trace; default: all."),
    ] = None,
    repetitions: Annotated[
        int,
        typer.Option("-n", "--repetitions", min=1, help="Run the command so often; mean, spread."),
    ] = 1,
    trace: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="TRACE", help="Keep the trace of the command."),
    ] = None,
    stacks: Annotated[
        bool, typer.Option("--stacks", help="Record where calls come from: sites, flame graph.")
    ] = False,
    sample: Annotated[
        int, typer.Option(min=1, metavar="N", help="Record one block in N, chosen by chance.")
    ] = 1,
    follow: Annotated[
        bool, typer.Option("--follow-children", help="Record the processes that it starts, too.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("-q", "--quiet", help="Print one line and nothing else.")
    ] = False,
) -> None:
    """Say what a program asks of malloc: how much, which sizes, for how long, in which threads."""
    from heapwright.cli.profiling import Options, run_profile  # noqa: PLC0415

    status = run_profile(
        Options(
            files=tuple(files or ()),
            command=_command(context),
            json_file=json_file,
            html_file=html_file,
            compare=compare,
            process=process,
            repetitions=repetitions,
            trace=trace,
            stacks=stacks,
            sample=sample,
            follow=follow,
            quiet=quiet,
        )
    )
    if status is not ExitCode.OK:
        raise typer.Exit(int(status))


def _command(context: typer.Context) -> tuple[str, ...] | None:
    """What follows `--`; nothing if there is none."""
    command: tuple[str, ...] | None = context.meta.get(COMMAND)
    if command == ():
        raise HeapwrightError("there is no command after --")
    return command
