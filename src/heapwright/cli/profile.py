# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright profile`: a program's requests to malloc.

This file is the command line only; `commands.profile` does the work. docs/reference/profile.md is
the manual page, with the definition of every figure.
"""

from pathlib import Path
from typing import Annotated

import typer

from heapwright import commands
from heapwright.artefacts.profile.asked_moments import AskedMoments
from heapwright.base.errors import ExitCode
from heapwright.cli import options
from heapwright.cli.values import parse_sampling

app = options.application()


@app.command("profile", cls=options.CommandAfterDashes)
def profile(
    context: typer.Context,
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[TRACE]",
            help="A trace, its profile as JSON, or a heap profile of another tool. "
            "Two with --compare.",
        ),
    ] = None,
    program: options.ProgramName = None,
    scale: options.Scale = None,
    parameter: options.Parameter = None,
    json_file: options.JsonFile = None,
    html_file: options.HtmlFile = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="Show what changed from the first to the second.")
    ] = False,
    at: Annotated[
        list[str] | None,
        typer.Option(
            "--at",
            metavar="MOMENT",
            help="Show each call site's live memory at this moment: peak, end, seconds, "
            "a part of the run such as 50%, or a mark. Repeatable.",
        ),
    ] = None,
    between: Annotated[
        tuple[str, str] | None,
        typer.Option(
            "--between",
            metavar="MOMENT MOMENT",
            help="Show what each call site gained and lost from one moment to the other.",
        ),
    ] = None,
    pins: Annotated[
        bool,
        typer.Option(
            "--pins",
            help="Show call sites whose few objects keep whole pages in use, "
            "at the peak and the end, or at the given moments.",
        ),
    ] = False,
    process: options.ProcessNumber = None,
    repetitions: Annotated[
        int,
        typer.Option(
            "-n",
            "--repetitions",
            min=1,
            max=options.MOST_BLOCKS,
            help="Run the command this often, and show mean and spread.",
        ),
    ] = 1,
    trace: options.KeptTrace = None,
    stacks: options.Stacks = False,
    sample: Annotated[
        str,
        typer.Option(
            metavar="N|SIZE",
            help="Record one block in N, chosen by its address. A size, such as 512K: sample one "
            "byte in SIZE at little cost, and estimate.",
        ),
    ] = "1",
    follow: options.Follow = False,
    hours: options.Hours = None,
    allocator: options.UnderForHours = None,
    rest: options.Rest = 0.0,
    vary: options.Vary = None,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print one line only.")] = False,
) -> None:
    """Show a program's requests to malloc: amounts, sizes, lifetimes, threads, call sites.

    Examples:
      heapwright profile -- ls -R /usr
      heapwright profile --html profile.html T
      heapwright profile -n 30 --json profile.json -- ./program
      heapwright profile --at peak --between 25% end -- ./program
      heapwright profile --compare before.json after.json
      heapwright profile --sample 512K -o samples -- ./server
      heapwright profile --html massif.html massif.out.7
    """
    blocks, sample_bytes = parse_sampling(sample)
    status = commands.profile.run_profile(
        commands.profile.Options(
            files=tuple(files or ()),
            command=options.command_after_dashes(context),
            program=options.program_request(program, scale, parameter),
            json_file=json_file,
            html_file=html_file,
            compare=compare,
            process=process,
            repetitions=repetitions,
            trace=trace,
            stacks=stacks,
            sample=blocks,
            sample_bytes=sample_bytes,
            follow=follow,
            quiet=quiet,
            long=options.long_run_request(hours, allocator, rest, vary),
            moments=AskedMoments(tuple(at or ()), between, pins),
        )
    )
    if status is not ExitCode.OK:
        raise typer.Exit(int(status))
