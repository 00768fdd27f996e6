# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright study run`, `status` and `resume`: the command line only.

`cli.study_running` does the work. docs/study-results.md is the manual page.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heapwright.base.errors import ExitCode
from heapwright.cli import options
from heapwright.cli.study import Name, Scale

if TYPE_CHECKING:
    from heapwright.cluster.places import Place

Results = Annotated[Path, typer.Argument(metavar="DIR", help="A folder that `study run` wrote.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Print nothing but errors.")]

Scheduler = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Have the workers of this Dask scheduler make the runs."),
]
Listen = Annotated[
    str | None,
    typer.Option(
        metavar="[HOST:]PORT",
        help="Have other hosts make the runs, which come here: `heapwright study worker`.",
    ),
]
Hosts = Annotated[
    str | None,
    typer.Option(metavar="HOSTS", help="Start a worker on each of these over ssh; with commas."),
]


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
    scheduler: Scheduler = None,
    listen: Listen = None,
    hosts: Hosts = None,
    quiet: Quiet = False,
) -> None:
    """Run a study: every treatment once in each block, in random order; Ctrl-C keeps all runs."""
    from heapwright.cli.study_running import Sitting, run_study  # noqa: PLC0415

    sitting = Sitting(options.seconds_of(budget), quiet, _place(scheduler, listen, hosts))
    _leave(run_study(study, scale, output, seed, sitting))


def resume(
    folder: Results,
    budget: options.Budget = None,
    scheduler: Scheduler = None,
    listen: Listen = None,
    hosts: Hosts = None,
    quiet: Quiet = False,
) -> None:
    """Go on with a study that was broken off, however it was; no run is made twice."""
    from heapwright.cli.study_running import Sitting, resume_study  # noqa: PLC0415

    place = _place(scheduler, listen, hosts)
    _leave(resume_study(folder, Sitting(options.seconds_of(budget), quiet, place)))


def status(folder: Results) -> None:
    """Tell how far a study is, also while it is being run, and how its runs ended."""
    from heapwright.cli.study_status import show_status  # noqa: PLC0415

    show_status(folder)


def worker(
    address: Annotated[
        str, typer.Argument(metavar="ADDRESS", help="Where `study run --listen` waits.")
    ],
) -> None:
    """Make runs on this host for a study that another host leads."""
    from heapwright.cluster.extra import need_dask  # noqa: PLC0415

    need_dask()
    from heapwright.cluster.worker import serve  # noqa: PLC0415

    serve(address)


def register(app: typer.Typer) -> None:
    """Add these verbs to `heapwright study`."""
    for verb in (run, resume, status, worker):
        app.command()(verb)


def _place(scheduler: str | None, listen: str | None, hosts: str | None) -> "Place | None":
    """Where other hosts are met, if they are."""
    from heapwright.cluster.places import Place  # noqa: PLC0415

    if scheduler is None and listen is None and hosts is None:
        return None
    if scheduler is not None and (listen is not None or hosts is not None):
        raise typer.BadParameter("--scheduler names one that is there: no --listen, no --hosts")
    names = tuple(piece.strip() for piece in (hosts or "").split(",") if piece.strip())
    if hosts is not None and not names:
        raise typer.BadParameter("--hosts names nobody")
    return Place(scheduler, listen, names)


def _leave(code: ExitCode) -> None:
    if code is not ExitCode.OK:
        raise typer.Exit(int(code))
