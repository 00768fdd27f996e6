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
from heapwright.cli import completion, options

HELP = """\
Prepare and run real programs and servers as loads for allocators.

Examples:
  heapwright programs list
  heapwright programs run perl --scale small
"""

app = options.application(
    name="programs",
    help=HELP,
    no_args_is_help=True,
)

Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME", help="A name of the list, or a file.", autocompletion=completion.programs
    ),
]
Names = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="NAME…", help="Names of the list, or files.", autocompletion=completion.programs
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def refuse_together(given: Mapping[str, object]) -> None:
    """Refuse options of a single run with --hours."""
    for option, value in given.items():
        if value:
            raise HeapwrightError(f"{option} is of a single run", "-o FILE writes a long run")


@app.command("list")
def list_(as_json: AsJson = False) -> None:
    """List the programs that come with heapwright, and whether they can run here.

    Examples:
      heapwright programs list
      heapwright programs list --json
    """
    commands.programs.list_programs(as_json=as_json)


@app.command()
def show(name: Name, scale: options.Scale = None, parameter: options.Parameter = None) -> None:
    """Show a program: its parameters, the figures it prints, and its checks.

    Examples:
      heapwright programs show perl
      heapwright programs show redis --scale small
    """
    commands.programs.show_program(ProgramRequest(name, scale, tuple(parameter or ())))


@app.command()
def check(names: Names = None) -> None:
    """Check program files and name the requirements that are missing here.

    Without a name, all programs are checked.

    Examples:
      heapwright programs check
      heapwright programs check redis ./service.toml
    """
    if not commands.programs.check_programs(tuple(names or ())):
        raise typer.Exit(int(ExitCode.NOTHING_COMPARED))


@app.command()
def install(
    names: Names = None,
    everything: Annotated[bool, typer.Option("--all", help="All programs.")] = False,
) -> None:
    """Install a program's packages with the distribution's package manager, as root.

    Examples:
      heapwright programs install redis
      heapwright programs install --all
    """
    commands.programs.install_programs(tuple(names or ()), everything=everything)


@app.command()
def run(
    name: Name,
    scale: options.Scale = None,
    parameter: options.Parameter = None,
    allocator: Annotated[
        str, typer.Option("-a", "--allocator", metavar="NAME", help="The allocator of the run.")
    ] = "glibc",
    timeout: options.Timeout = None,
    as_json: AsJson = False,
    hours: options.Hours = None,
    rest: options.Rest = 0.0,
    vary: options.Vary = None,
    json_file: Annotated[
        str | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="With --hours: write the series as JSON."
        ),
    ] = None,
    html_file: Annotated[
        str | None, typer.Option("--html", metavar="FILE", help="With --hours: write a page.")
    ] = None,
) -> None:
    """Run a program once, prove its allocator, check its answers, and show its figures.

    Examples:
      heapwright programs run perl --scale small
      heapwright programs run redis -a jemalloc --json
    """
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
    everything: Annotated[bool, typer.Option("--all", help="All programs.")] = False,
) -> None:
    """Remove the data that was generated for a program.

    The next run generates it again.

    Examples:
      heapwright programs clean perl
      heapwright programs clean --all
    """
    commands.programs.clean_programs(tuple(names or ()), everything=everything)


@app.command()
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The new name.")],
    client: Annotated[
        str, typer.Option(metavar="COMMAND", help="The command that puts the service under load.")
    ],
    unit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The systemd unit that starts it.")
    ] = None,
    image: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A file with the output of `docker inspect IMAGE`."),
    ] = None,
    server: Annotated[
        str | None, typer.Option(metavar="COMMAND", help="The command that starts it.")
    ] = None,
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="The port of the service; becomes {port}.")
    ] = None,
    socket: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="The socket of the service; becomes {run}/socket."),
    ] = None,
    ready: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND", help="A command that exits with status 0 once the service is ready."
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Default: NAME.toml.")
    ] = None,
) -> None:
    """Write a first program file for a service of your own, from its unit, image or command.

    Examples:
      heapwright programs new mine --client ./load.sh --unit mine.service --port 80
      heapwright programs new mine --client ./load.sh --server ./mine --port 80
    """
    commands.programs_new.make_program(
        commands.programs_new.New(name, unit, image, server, client, port, socket, ready, output)
    )
