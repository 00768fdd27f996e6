# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright tailor`: build an allocator for one program.

This file is the command line only. `commands.tailor` does the work. docs/reference/tailor.md is the
manual page.
"""

import re
import shlex
from itertools import zip_longest
from pathlib import Path
from typing import Annotated

import typer

from heapwright import commands
from heapwright.artefacts.program.request import ProgramRequest
from heapwright.artefacts.tailoring.inputs import Input, program_input
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.base.paths import is_trace
from heapwright.cli import options
from heapwright.cli.values import parse_margin

DEFAULT_MINUTES = 15.0

app = options.application()


@app.command("tailor", cls=options.CommandAfterDashes)
def tailor(
    context: typer.Context,
    traces: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[TRACE]...", help="Traces, which are replayed. A command stands after --."
        ),
    ] = None,
    program: options.ProgramName = None,
    scale: options.Scale = None,
    parameter: options.Parameter = None,
    inputs: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            metavar="COMMAND",
            help="A further training input: a command in one word, or a trace. With --program, "
            "what differs, such as '-p rows=9'. May be repeated.",
        ),
    ] = None,
    unseen: Annotated[
        list[str] | None,
        typer.Option(
            "--unseen",
            metavar="COMMAND",
            help="Judge on this input, which the search does not use; may be repeated. As --input.",
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Of the new allocator. Default: tailored-PROGRAM."),
    ] = None,
    proposal: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Try this proposal or neighbour alone, such as lists-12."
        ),
    ] = None,
    budget: Annotated[
        float, options.minutes("About the length of the search. One that is too short is refused.")
    ] = DEFAULT_MINUTES,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FOLDER",
            help="Keep the search here. The same command continues the search of the folder.",
        ),
    ] = None,
    advise: Annotated[
        bool,
        typer.Option(
            "--advise",
            help="Build nothing: name objects that die together, hot sizes, and pinning sites.",
        ),
    ] = False,
    compiler: Annotated[
        str | None, typer.Option(metavar="COMPILER", help="Default: $CXX, c++, g++ or clang++.")
    ] = None,
    margin: options.Margin = "2%",
    pin: options.Pin = None,
    seed: options.OrderSeed = None,
    json_file: options.JsonFile = None,
    quiet: options.SentenceAlone = False,
) -> None:
    """Build an allocator from layers for one program, and judge it beside others.

    Examples:
      heapwright tailor -- perl script.pl
      heapwright tailor --unseen 'perl script.pl other.txt' -- perl script.pl some.txt
      heapwright tailor --budget 30 -o search --input './job two' -- ./job one
      heapwright tailor --program sqlite --scale small --unseen '-p seed=2'
      heapwright tailor run.trace
      heapwright tailor --advise --json advice.json -- ./job one
    """
    asked = options.program_request(program, scale, parameter)
    command = options.command_after_dashes(context)
    if asked is not None:
        options.refuse_beside_program({"a trace": traces, "a command": command})
    if traces and command is not None:
        raise HeapwrightError(
            f"{traces[0]} stands beside a command", "give a further input with --input"
        )
    for each in traces or ():
        if not is_trace(each):
            raise HeapwrightError(
                f"{each} is no trace", "heapwright tailor -- ./program its arguments"
            )
    first: list[tuple[str, ...]] = [command] if command else [(str(each),) for each in traces or ()]
    if not first and asked is None:
        raise HeapwrightError(
            "there is nothing to tailor an allocator for: no command and no trace",
            "heapwright tailor -- ./program its arguments, or heapwright tailor --program NAME",
        )
    if advise:
        others = _options_beside_advise(context)
        _advise(first, json_file=json_file, quiet=quiet, others=others)
        return
    own = map(Input, first) if asked is None else [program_input(asked)]
    chosen = commands.tailor.Options(
        inputs=(*own, *(_input(each, "--input", asked) for each in inputs or ())),
        unseen=tuple(_input(each, "--unseen", asked) for each in unseen or ()),
        name=name or _default_name(first[0][0] if asked is None else asked.name),
        proposal=proposal,
        budget_s=60 * budget,
        folder=output,
        margin=parse_margin(margin),
        cpus=options.cpus_of(pin),
        seed=seed,
        compiler=compiler,
        json_file=json_file,
        quiet=quiet,
    )
    status = commands.tailor.run_tailoring(chosen)
    if status is not ExitCode.OK:
        raise typer.Exit(int(status))


def _options_beside_advise(context: typer.Context) -> list[str]:
    """The given options that `--advise` has no use for."""
    return [
        each.opts[-1]
        for each in context.command.params
        if each.name not in {"traces", "advise", "json_file", "quiet"}
        and (source := context.get_parameter_source(str(each.name))) is not None
        and source.name != "DEFAULT"
    ]


def _advise(
    inputs: list[tuple[str, ...]], *, json_file: str | None, quiet: bool, others: list[str]
) -> None:
    if others or len(inputs) > 1:
        raise HeapwrightError(
            "--advise reads one command or trace, and searches nothing",
            f"leave out {', '.join(others) or 'all traces but one'}",
        )
    status = commands.tailor_advice.run_advice(inputs[0], json_file=json_file, quiet=quiet)
    if status is not ExitCode.OK:
        raise typer.Exit(int(status))


def _input(text: str, option: str, asked: ProgramRequest | None) -> Input:
    """A trace, a command in one word of the shell, or the changes of a program."""
    if is_trace(Path(text)):
        return Input((text,))
    words = _words(text, option)
    if asked is None:
        return Input(words)
    scale, parameters = asked.scale, [*asked.parameters]
    for name, value in zip_longest(words[::2], words[1::2]):
        if value is None or name not in ("--scale", "-p"):
            raise HeapwrightError(
                f"{option} {text!r} says nothing about {asked.name}",
                f"beside --program, write {option} '--scale NAME -p NAME=VALUE'",
            )
        if name == "-p":
            parameters.append(value)
        else:
            scale = value
    return program_input(ProgramRequest(asked.name, scale, tuple(parameters)))


def _words(text: str, option: str) -> tuple[str, ...]:
    """The words of a text as the shell reads it."""
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise HeapwrightError(f"{option} {text!r} cannot be read: {error}") from error
    if not words:
        raise HeapwrightError(f"{option} names no command")
    return words


def _default_name(first: str) -> str:
    """The name for the allocator of a command, of a trace or of a program."""
    program = re.sub(r"[^a-z0-9]+", "-", Path(first).stem.lower()).strip("-")
    return f"tailored-{program or 'program'}"[:60]
