# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright synth`: a load that behaves like a profiled program, and how far it is from it.

This file is the command line only; `commands.synth` does the work. docs/reference/synth.md is the
manual page.
"""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from heapwright import commands
from heapwright.cli import options


class Model(StrEnum):
    """How the load is drawn."""

    DEFAULT = "default"
    COSTA = "costa"


app = options.application()


@app.command("synth")
def synth(
    profile: Annotated[
        Path | None,
        typer.Argument(metavar="[PROFILE]", help="A profile as JSON, or a trace, to be profiled."),
    ] = None,
    trace: options.KeptTrace = None,
    run: Annotated[
        bool, typer.Option("--run", help="Replay it once, and print the output of the replay.")
    ] = False,
    model: Annotated[
        Model, typer.Option(help="The method. costa is the published one.")
    ] = Model.DEFAULT,
    events: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=10**12,
            metavar="N",
            help="The approximate number of calls. Default: that of the profile.",
        ),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=100_000,
            metavar="N",
            help="The number of threads. Default: that of the profile.",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, max=options.LARGEST_SEED, help="The same seed gives the same trace."),
    ] = None,
    process: options.ProcessNumber = None,
    recreate: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Generate a published trace again. `list` prints their names."
        ),
    ] = None,
    allocators: Annotated[
        list[str] | None,
        typer.Option(
            "-a",
            "--allocators",
            metavar="NAMES",
            help="Replay both traces under each allocator, and compare the ranks.",
        ),
    ] = None,
    blocks: Annotated[
        int,
        typer.Option(
            "-n", "--blocks", min=1, max=options.MOST_BLOCKS, help="Blocks of the replays under -a."
        ),
    ] = 5,
    json_file: options.JsonFile = None,
    html_file: Annotated[
        str | None,
        typer.Option("--html", metavar="FILE", help="Write both profiles as a page."),
    ] = None,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print the distances only.")] = False,
) -> None:
    """Generate a load that behaves like a profiled program, and measure the difference.

    Examples:
      heapwright synth T -o T2 --threads 8
      heapwright synth profile.json -o T --events 100000
      heapwright synth T --model costa -a glibc,jemalloc,tcmalloc
      heapwright synth --recreate dj -o T
    """
    commands.synth.run_synth(
        commands.synth.Options(
            profile=profile,
            trace=trace,
            run=run,
            costa=model is Model.COSTA,
            events=events,
            threads=threads,
            seed=seed,
            process=process,
            recreate=recreate,
            allocators=tuple(allocators or ()),
            blocks=blocks,
            json_file=json_file,
            html_file=html_file,
            quiet=quiet,
        )
    )
