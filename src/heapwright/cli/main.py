# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The command line of `heapwright`: its verbs, and the options before them."""

import sys
from contextlib import suppress
from typing import Annotated, NoReturn

import typer

from heapwright.base.scratch import sweep
from heapwright.cli.completion import Shell, prepare, script
from heapwright.cli.lazy_group import LazyGroup
from heapwright.cli.next_command import next_command
from heapwright.cli.process import leave_after
from heapwright.cli.version import print_version

app = typer.Typer(
    name="heapwright",
    help="A workshop and a laboratory for memory allocators.",
    cls=LazyGroup,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print_version()
        raise typer.Exit


def _print_completion(shell: Shell | None) -> None:
    if shell is not None:
        typer.echo(script(shell))
        raise typer.Exit


@app.callback()
def general_options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
    completion: Annotated[
        Shell | None,
        typer.Option(
            "--completion",
            callback=_print_completion,
            is_eager=True,
            help="Print a shell script that completes the command line.",
        ),
    ] = None,
) -> None:
    """Options that come before the verb."""
    del version, completion
    sweep()


def main() -> NoReturn:
    """Run the command line and leave with its exit status."""
    leave_after(_run)


def _run() -> None:
    """Run the verb. After an answer print the next useful command."""
    prepare()
    try:
        app()
    except SystemExit as leaving:
        line = next_command(sys.argv[1:], leaving.code or 0)
        if line:
            with suppress(OSError):
                sys.stdout.flush()
                typer.echo(line, err=True)
        raise
