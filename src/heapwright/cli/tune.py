# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright tune`: search the settings of an allocator for a command.

This file is the command line only. `commands.tune` does the work. docs/reference/tune.md is the
manual page.
"""

from pathlib import Path
from typing import Annotated

import typer

from heapwright import commands
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.base.paths import is_trace
from heapwright.cli import options
from heapwright.cli.values import parse_fraction, parse_margin

NO_CAP = "none"

app = options.application()


@app.command("tune", cls=options.CommandAfterDashes)
def tune(
    context: typer.Context,
    trace: Annotated[
        Path | None,
        typer.Argument(
            metavar="[TRACE]", help="A trace, which is replayed. A command stands after --."
        ),
    ] = None,
    program: options.ProgramName = None,
    scale: options.Scale = None,
    parameter: options.Parameter = None,
    allocator: Annotated[
        str,
        typer.Option(
            "-a", "--allocator", metavar="NAME", help="The allocator whose settings vary."
        ),
    ] = "glibc",
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--setting",
            metavar="NAME[=V,V]",
            help="Search this setting, with these 2 to 8 levels in order; may be repeated. One "
            "level is the word default. Without this option, all settings are searched.",
        ),
    ] = None,
    finer: Annotated[
        bool,
        typer.Option(
            "--finer",
            help="Race numbers near the best levels too, on the scale of each setting.",
        ),
    ] = False,
    objective: Annotated[
        str,
        typer.Option(
            metavar="FIGURE",
            help="What to make small: time, peak (memory), idle (memory at the end of a run), "
            "or a figure of the program, such as latency_p99_ms.",
        ),
    ] = "time",
    cap: Annotated[
        str,
        typer.Option(
            metavar="FRACTION",
            help="The other figure may grow by this much: time if memory is made small, else "
            "peak memory. none: by any amount.",
        ),
    ] = "10%",
    budget: Annotated[
        float | None,
        options.minutes("About the length of the search. One that is too short is refused."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FOLDER",
            help="Keep the runs here. The same command continues the search of the folder.",
        ),
    ] = None,
    margin: options.Margin = "2%",
    pin: options.Pin = None,
    seed: options.OrderSeed = None,
    json_file: options.JsonFile = None,
    quiet: options.SentenceAlone = False,
) -> None:
    """Search the settings of an allocator for a command, and confirm the best by new runs.

    Examples:
      heapwright tune -- ls -R /usr
      heapwright tune --objective peak --budget 30 --program perl --scale small
      heapwright tune -a jemalloc -o search -- ./server --selftest
      heapwright tune --finer --setting tcache_count=0,default,127 -- ./job
    """
    asked = options.program_request(program, scale, parameter)
    command = options.command_after_dashes(context)
    if trace is not None:
        if command is not None:
            raise HeapwrightError(
                f"{trace} stands beside a command", "tune the trace or the command"
            )
        if not is_trace(trace):
            raise HeapwrightError(
                f"{trace} is no trace", "heapwright tune -- ./program its arguments"
            )
        command = (str(trace),)
    if asked is None and not command:
        raise HeapwrightError(
            "there is nothing to tune: no command, and no --program",
            "heapwright tune -- ./program its arguments, or heapwright tune --program NAME",
        )
    if asked is not None:
        options.refuse_beside_program({"a trace" if trace else "a command": command})
    chosen = commands.tune.Options(
        command=command or (),
        program=asked,
        allocator=allocator,
        settings=tuple(setting or ()),
        finer=finer,
        objective=objective,
        cap=None if cap == NO_CAP else 1 + parse_fraction(cap, "--cap"),
        budget_s=options.seconds_of(budget),
        folder=output,
        margin=parse_margin(margin),
        cpus=options.cpus_of(pin),
        seed=seed,
        json_file=json_file,
        quiet=quiet,
    )
    status = commands.tune.run_tuning(chosen)
    if status is not ExitCode.OK:
        raise typer.Exit(int(status))
