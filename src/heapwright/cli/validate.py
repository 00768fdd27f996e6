# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright validate`: does a stand-in behave as the original library that it replaces?

This file is the command line only; `commands.validate` does the work. docs/reference/validate.md is
the manual page.
"""

from typing import Annotated

import typer

from heapwright import commands
from heapwright.cli import options

BLOCKS = 5

app = options.application()


@app.command("validate")
def validate(
    original: Annotated[
        str, typer.Argument(metavar="ORIGINAL.so", help="The library of the original allocator.")
    ],
    stand_in: Annotated[
        str, typer.Option("--as", metavar="NAME", help="The allocator that replaces it.")
    ],
    json_file: options.JsonFile = None,
    blocks: Annotated[
        int,
        typer.Option(
            "-n", "--blocks", min=1, max=options.MOST_BLOCKS, help="Repetitions of the runs."
        ),
    ] = BLOCKS,
    budget: options.RunBudget = None,
    small: Annotated[
        bool, typer.Option("--small", help="Shorter runs of the taxonomy, for a trial.")
    ] = False,
    seed: options.LoadSeed = None,
    quiet: options.SentenceAlone = False,
) -> None:
    """Compare a stand-in with the original library: memory, locks, speedup and taxonomy.

    Examples:
      heapwright validate ./libhoard.so --as hoard-3.8
      heapwright validate ./nedmalloc.so --as nedmalloc --small -n 3
    """
    status = commands.validate.run_validate(
        commands.validate.Options(
            original=original,
            stand_in=stand_in,
            json_file=json_file,
            blocks=blocks,
            budget_s=options.seconds_of(budget),
            small=small,
            seed=seed,
            quiet=quiet,
        )
    )
    if status:
        raise typer.Exit(int(status))
