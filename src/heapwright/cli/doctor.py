# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright doctor`: is this machine fit to measure on?

This file is the command line only; `commands.doctor` does the work. docs/reference/doctor.md is the
manual.
"""

from typing import Annotated

import typer

from heapwright import commands
from heapwright.cli import options

UNFIT = 10


app = options.application()


@app.command("doctor", cls=options.CommandAfterDashes)
def doctor(
    context: typer.Context,
    budget: Annotated[
        float, options.minutes("Compute the smallest difference that this time shows.")
    ] = 10,
    seconds: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            min=0,
            max=options.LONGEST_S,
            help="Measure noise for this time, with at least six runs.",
        ),
    ] = 5,
    quick: Annotated[
        bool, typer.Option("--quick", help="Check the machine only. Measure no noise.")
    ] = False,
    json_file: options.JsonFile = None,
    quiet: options.SentenceAlone = False,
) -> None:
    """Check whether this machine is fit to measure on, and how small a difference it shows.

    The noise of the command after -- is measured. Without one, a short program is measured.

    Examples:
      heapwright doctor
      heapwright doctor --budget 30 -- ls -R /usr
      heapwright doctor --quick --json machine.json
    """
    fit = commands.doctor.run_checkup(
        commands.doctor.Options(
            command=options.command_after_dashes(context),
            budget_s=budget * 60,
            seconds=seconds,
            quick=quick,
            json_file=json_file,
            quiet=quiet,
        )
    )
    if not fit:
        raise typer.Exit(UNFIT)
