# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright study run`, `status` and `resume`: the command line only.

`cli.study_running` does the work. docs/study-results.md is the manual page.
"""

from pathlib import Path
from typing import Annotated

import typer

from heapwright.artefacts.errors import ExitCode
from heapwright.cli import options
from heapwright.cli.study import Name, Scale

Results = Annotated[Path, typer.Argument(metavar="DIR", help="A folder that `study run` wrote.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Print nothing but errors.")]


def run(
    study: Name,
    scale: Scale = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="DIR", help="Where the results go. Default: NAME-results."
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Of the order of the runs, and of a fraction.")
    ] = None,
    budget: options.Budget = None,
    quiet: Quiet = False,
) -> None:
    """Run a study: every treatment once in each block, in random order; Ctrl-C keeps all runs."""
    from heapwright.cli.study_running import Sitting, run_study  # noqa: PLC0415

    sitting = Sitting(options.seconds_of(budget), quiet)
    _leave(run_study(study, scale, output, seed, sitting))


def resume(folder: Results, budget: options.Budget = None, quiet: Quiet = False) -> None:
    """Go on with a study that was broken off, however it was; no run is made twice."""
    from heapwright.cli.study_running import Sitting, resume_study  # noqa: PLC0415

    _leave(resume_study(folder, Sitting(options.seconds_of(budget), quiet)))


def status(folder: Results) -> None:
    """Tell how far a study is, also while it is being run, and how its runs ended."""
    from heapwright.cli.study_status import show_status  # noqa: PLC0415

    show_status(folder)


def register(app: typer.Typer) -> None:
    """Add these verbs to `heapwright study`."""
    for verb in (run, resume, status):
        app.command()(verb)


def _leave(code: ExitCode) -> None:
    if code is not ExitCode.OK:
        raise typer.Exit(int(code))
