# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright taxonomy`: measure what kind of allocator each one is.

This file is the command line only; `commands.taxonomy` does the work. docs/reference/taxonomy.md is
the manual page, with the methods and the criteria.
"""

from typing import Annotated

import typer

from heapwright import commands
from heapwright.base.errors import ExitCode
from heapwright.cli import options

BLOCKS = 5


app = options.application()


@app.command("taxonomy")
def taxonomy(
    allocators: options.Allocators = None,
    json_file: options.JsonFile = None,
    html_file: Annotated[
        str | None,
        typer.Option(
            "--html", metavar="FILE", help="Write a page with the curves; it needs no network."
        ),
    ] = None,
    blocks: Annotated[
        int,
        typer.Option(
            "-n",
            "--blocks",
            min=1,
            max=options.MOST_BLOCKS,
            help="Repetitions of the measurements that vary.",
        ),
    ] = BLOCKS,
    budget: options.RunBudget = None,
    small: Annotated[
        bool, typer.Option("--small", help="Shorter runs and fewer threads, for a trial.")
    ] = False,
    seed: options.LoadSeed = None,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print the table only.")] = False,
) -> None:
    """Measure the speed, scaling, false sharing and memory growth of allocators.

    Examples:
      heapwright taxonomy --small -a glibc,granary
      heapwright taxonomy --json taxonomy.json --html taxonomy.html
    """
    status = commands.taxonomy.run_taxonomy(
        commands.taxonomy.Options(
            allocators=tuple(allocators or ()),
            json_file=json_file,
            html_file=html_file,
            blocks=blocks,
            budget_s=options.seconds_of(budget),
            small=small,
            seed=seed,
            quiet=quiet,
        )
    )
    if status is not ExitCode.OK:
        raise typer.Exit(int(status))
