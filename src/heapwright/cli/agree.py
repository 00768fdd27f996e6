# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright agree`: does the ranking of allocators on a program agree with its replay and its
synthetic load?

This file is the command line only; `commands.agree` does the work. docs/reference/agree.md is the
manual page.
"""

from pathlib import Path
from typing import Annotated

import typer

from heapwright import commands
from heapwright.artefacts.run.replay import GAPS, Surroundings
from heapwright.base.errors import ExitCode
from heapwright.cli import options

app = options.application()


@app.command("agree")
def agree(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="PROGRAM…", help="Names of programs, or program files."),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="All programs that come with heapwright.")
    ] = False,
    scale: options.Scale = None,
    allocators: Annotated[
        list[str] | None,
        typer.Option(
            "-a",
            "--allocators",
            metavar="NAMES",
            help="At least two allocators, separated by commas.",
        ),
    ] = None,
    blocks: Annotated[
        int,
        typer.Option("-n", "--blocks", min=2, max=options.MOST_BLOCKS, help="Blocks of each load."),
    ] = 5,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0, max=options.LARGEST_SEED, help="The seed of orders, loads and intervals."
        ),
    ] = None,
    gaps: options.ReplayedGaps = GAPS,
    visits: options.ReplayedVisits = 0.0,
    whole: options.WholeReplay = False,
    json_file: options.JsonFile = None,
    csv_file: Annotated[
        str | None, typer.Option("--csv", metavar="FILE", help="Write the table as CSV.")
    ] = None,
    html_file: Annotated[
        str | None, typer.Option("--html", metavar="FILE", help="Write the tables as a page.")
    ] = None,
    keep: Annotated[
        Path | None,
        typer.Option(
            "--keep",
            metavar="FILE",
            help="Save the answer of each program in this file, and reuse the answers in it.",
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print the means only.")] = False,
) -> None:
    """Compare how allocators rank on a program, on its replay and on a synthetic load.

    Examples:
      heapwright agree perl --scale small -a glibc,jemalloc,mimalloc
      heapwright agree --all -n 10 --keep answers --html agreement.html
    """
    status = commands.agree.run_agree(
        commands.agree.Options(
            names=tuple(names or ()),
            everything=everything,
            scale=scale,
            allocators=tuple(allocators or ()),
            blocks=blocks,
            seed=seed,
            surroundings=Surroundings(gaps=gaps, visits=visits, whole=whole),
            json_file=json_file,
            csv_file=csv_file,
            html_file=html_file,
            keep=keep,
            quiet=quiet,
        )
    )
    if status is not ExitCode.OK:
        raise typer.Exit(int(status))
