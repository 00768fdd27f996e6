# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright run`: run a command under an allocator.

This file is the command line only; `commands.run` does the work. docs/reference/run.md is the
manual page. The process becomes the command, so the exit status is the command's.
"""

from typing import Annotated

import typer

from heapwright import commands
from heapwright.base.errors import HeapwrightError
from heapwright.cli import options

app = options.application()


@app.command("run", cls=options.CommandAfterDashes)
def run(
    context: typer.Context,
    allocator: Annotated[
        str,
        typer.Option(
            "-a",
            "--allocator",
            metavar="NAME",
            help="A name of `heapwright allocators`, or a library by its path.",
        ),
    ],
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="SETTINGS",
            help="Settings of the allocator, such as return=2s for granary, or VAR=VALUE. May be "
            "repeated.",
        ),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("-q", "--quiet", help="Print no notes. Errors are still printed.")
    ] = False,
) -> None:
    """Verify that an allocator takes effect in a command, and then become this command.

    Process number, streams, terminal, signals and exit status are those of the command.

    Examples:
      heapwright run -a granary -- python3 -m http.server
      heapwright run -a granary --set return=2s,statistics=exit -- ls -R /usr
      heapwright run -a jemalloc --set narenas:1 -- ./program
    """
    command = options.command_after_dashes(context)
    if command is None:
        raise HeapwrightError(
            "there is no command to run", "heapwright run -a NAME -- ./program its arguments"
        )
    commands.run.run_command(commands.run.Options(command, allocator, tuple(setting or ()), quiet))
