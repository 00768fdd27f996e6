# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright programs`: real programs and servers under study, each of them one file.

This file is the command line only; `commands.programs_run` does the work.
docs/reference/programs.md is the manual page of both the file and these verbs.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from heapwright import commands
from heapwright.artefacts.program.request import ProgramRequest
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.cli import options

app = options.application(
    name="programs",
    help="Real programs and servers to put under study: what is needed, and one run of each.",
    no_args_is_help=True,
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="A name of the list, or a file.")]
Names = Annotated[
    list[str] | None, typer.Argument(metavar="NAME…", help="Names of the list, or files.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def refuse_together(given: Mapping[str, object]) -> None:
    """What a single run has and a long one has otherwise."""
    for option, value in given.items():
        if value:
            raise HeapwrightError(f"{option} is of a single run", "-o FILE writes a long run")


@app.command("list")
def list_(as_json: AsJson = False) -> None:
    """List the programs that come with heapwright, and whether they can be run here."""
    commands.programs.list_programs(as_json=as_json)


@app.command()
def show(name: Name, scale: options.Scale = None, parameter: options.Parameter = None) -> None:
    """Show a program: its parameters, what is read from its output, what must be true of it."""
    commands.programs.show_program(ProgramRequest(name, scale, tuple(parameter or ())))


@app.command()
def check(names: Names = None) -> None:
    """Check program files and say what is missing here to run them; without a name, all of them."""
    if not commands.programs.check_programs(tuple(names or ())):
        raise typer.Exit(int(ExitCode.NOTHING_COMPARED))


@app.command()
def install(
    names: Names = None,
    everything: Annotated[bool, typer.Option("--all", help="Of all programs.")] = False,
) -> None:
    """Ask the distribution for the packages of a program; it has to be root who asks."""
    commands.programs.install_programs(tuple(names or ()), everything=everything)


@app.command()
def run(
    name: Name,
    scale: options.Scale = None,
    parameter: options.Parameter = None,
    allocator: Annotated[
        str, typer.Option("-a", "--allocator", metavar="NAME", help="What it is run under.")
    ] = "glibc",
    timeout: options.Timeout = None,
    as_json: AsJson = False,
    hours: options.Hours = None,
    rest: options.Rest = 0.0,
    vary: options.Vary = None,
    json_file: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="FILE", help="With --hours: its series as JSON."),
    ] = None,
    html_file: Annotated[
        str | None, typer.Option("--html", metavar="FILE", help="With --hours: as a page.")
    ] = None,
) -> None:
    """Run a program once, prove its allocator, check its answers, and show its figures."""
    asked = ProgramRequest(name, scale, tuple(parameter or ()))
    if hours is not None:
        refuse_together({"--json": as_json, "--timeout": timeout})
        long = commands.long_run.Options(asked, allocator, hours, rest, vary, json_file, html_file)
        status = commands.long_run.run_long(long)
        if status is not ExitCode.OK:
            raise typer.Exit(int(status))
        return
    options.refuse_without_hours(
        {"--rest": rest, "--vary": vary, "-o": json_file, "--html": html_file}
    )
    if not commands.programs_run.run_program(asked, allocator, timeout, as_json=as_json):
        raise typer.Exit(int(ExitCode.NOTHING_COMPARED))


@app.command()
def clean(
    names: Names = None,
    everything: Annotated[bool, typer.Option("--all", help="Of all programs.")] = False,
) -> None:
    """Remove the data that was made for a program; it is made again when it is needed."""
    commands.programs.clean_programs(tuple(names or ()), everything=everything)


@app.command()
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it is to be called.")],
    client: Annotated[str, typer.Option(metavar="COMMAND", help="What puts it under load.")],
    unit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The systemd unit that starts it.")
    ] = None,
    image: Annotated[
        Path | None, typer.Option(metavar="FILE", help="What `docker inspect IMAGE` prints.")
    ] = None,
    server: Annotated[
        str | None, typer.Option(metavar="COMMAND", help="The command that starts it.")
    ] = None,
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Where it listens; becomes {port}.")
    ] = None,
    socket: Annotated[
        str | None, typer.Option(metavar="PATH", help="Where it listens; becomes {run}/socket.")
    ] = None,
    ready: Annotated[
        str | None, typer.Option(metavar="COMMAND", help="Ends with 0 when it is ready.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Default: NAME.toml.")
    ] = None,
) -> None:
    """Write a first program file for a service of your own, from its unit, image or command."""
    commands.programs_new.make_program(
        commands.programs_new.New(name, unit, image, server, client, port, socket, ready, output)
    )
