# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright record`: record a command's requests to malloc.

This file is the command line only; `commands.record` does the work. docs/reference/record.md is the
manual page. The exit status is the command's.
"""

import signal
from pathlib import Path
from typing import Annotated

import typer

from heapwright import commands
from heapwright.base.errors import HeapwrightError
from heapwright.cli import options
from heapwright.cli.values import parse_size

CONTEXT = {"allow_interspersed_args": False}
EITHER = "heapwright record -- ./program its arguments, or heapwright record --program NAME"
WIDEST = 999


app = options.application()


@app.command("record", context_settings=CONTEXT)
def record(
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="COMMAND", help="The command and its arguments, after --."),
    ] = None,
    program: options.ProgramName = None,
    scale: options.Scale = None,
    parameter: options.Parameter = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="TRACE", help="The trace. Default: NAME.trace in this folder."
        ),
    ] = None,
    stacks: options.Stacks = False,
    sample: options.Sample = 1,
    follow: options.Follow = False,
    paused: Annotated[
        bool, typer.Option("--paused", help="Start with recording turned off.")
    ] = False,
    control: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Turn recording on or off when `on` or `off` is written to FILE."
        ),
    ] = None,
    toggle_signal: Annotated[
        str | None,
        typer.Option(
            metavar="SIGNAL", help="In the command, this signal turns recording on and off."
        ),
    ] = None,
    mark_signal: Annotated[
        str | None,
        typer.Option(
            metavar="SIGNAL",
            help="In the command, this signal marks the moment, for profile --at.",
        ),
    ] = None,
    limit: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Stop recording when the trace has this size."),
    ] = None,
    system: Annotated[
        bool,
        typer.Option(
            "--system/--no-system", help="Also record the memory that the system provides."
        ),
    ] = True,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print nothing at the end.")] = False,
) -> None:
    """Run a command and record all its requests to malloc in one trace file.

    Examples:
      heapwright record -o T -- ls -R /usr
      heapwright record --stacks --follow-children -o T -- make
    """
    asked = options.program_request(program, scale, parameter)
    if asked is None and not command:
        raise HeapwrightError("there is nothing to record: no command, and no --program", EITHER)
    if asked is not None:
        options.refuse_beside_program({"a command": command})
    status = commands.record.run_record(
        commands.record.Options(
            command=tuple(command or ()),
            program=asked,
            output=output,
            stacks=stacks,
            sample=sample,
            follow=follow,
            paused=paused,
            system=system,
            limit=None if limit is None else parse_size(limit),
            control=control,
            toggle_signal=None if toggle_signal is None else parse_signal(toggle_signal),
            mark_signal=None if mark_signal is None else parse_signal(mark_signal),
            quiet=quiet,
        )
    )
    raise typer.Exit(status)


def parse_signal(text: str) -> int:
    """`USR2`, `SIGUSR2` or `12`: a signal that a program can handle."""
    name = text.upper().removeprefix("SIG")
    names = {each.name.removeprefix("SIG"): int(each) for each in signal.Signals}
    number = names.get(name, int(name) if name.isdecimal() and len(name) <= len(str(WIDEST)) else 0)
    if number not in signal.valid_signals() or number in (signal.SIGKILL, signal.SIGSTOP):
        raise HeapwrightError(
            f"{text!r} is no signal that a program can handle", "write USR2, for instance"
        )
    return number
