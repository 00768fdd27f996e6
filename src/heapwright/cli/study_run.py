# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright study run`, `status` and `resume`: the command line only.

`commands.study_run` does the work. docs/reference/study-results.md is the manual page.
"""

from pathlib import Path
from typing import Annotated

import typer

from heapwright import commands
from heapwright.base.errors import ExitCode
from heapwright.cli import options

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
        help="Wait here for other hosts that make the runs with `heapwright study worker`.",
    ),
]
Hosts = Annotated[
    str | None,
    typer.Option(
        metavar="HOSTS",
        help="Start a worker on each of these hosts over ssh. Separate them with commas.",
    ),
]

Insecure = Annotated[
    bool,
    typer.Option(
        "--insecure",
        help="Admit workers without a certificate. A host that reaches the address can run "
        "commands as you, here and on the hosts.",
    ),
]
Certificate = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="The certificate of the study; - is standard input."),
]


def run(
    study: options.StudyName,
    scale: options.StudyScale = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="DIR",
            help="The folder of the results. Default: NAME-results.",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=options.LARGEST_SEED,
            help="The seed of the order of the runs, and of a fraction.",
        ),
    ] = None,
    budget: options.Budget = None,
    scheduler: Scheduler = None,
    listen: Listen = None,
    hosts: Hosts = None,
    insecure: Insecure = False,
    quiet: Quiet = False,
) -> None:
    """Run a study: each treatment once in each block, in random order.

    Ctrl-C keeps all finished runs.

    Examples:
      heapwright study run costa-2014 --scale small -o results
      heapwright study run mine.toml --budget 60
      heapwright study run mine.toml --listen 7000 --hosts one,two
    """
    chosen = commands.study_run.Options(
        options.seconds_of(budget),
        quiet,
        scheduler,
        listen,
        _hosts(scheduler, listen, hosts, insecure=insecure),
        insecure,
    )
    _leave(commands.study_run.run_study(study, scale, output, seed, chosen))


def resume(
    folder: Results,
    budget: options.Budget = None,
    scheduler: Scheduler = None,
    listen: Listen = None,
    hosts: Hosts = None,
    insecure: Insecure = False,
    quiet: Quiet = False,
) -> None:
    """Continue an interrupted study. No run is repeated.

    Examples:
      heapwright study resume results
      heapwright study resume results --budget 30
    """
    chosen = commands.study_run.Options(
        options.seconds_of(budget),
        quiet,
        scheduler,
        listen,
        _hosts(scheduler, listen, hosts, insecure=insecure),
        insecure,
    )
    _leave(commands.study_run.resume_study(folder, chosen))


def status(folder: Results) -> None:
    """Show the progress of a study and the outcomes of its runs, also while it runs.

    Examples:
      heapwright study status results
      heapwright study status costa-2014-results
    """
    commands.study_status.show_status(folder)


def worker(
    address: Annotated[
        str, typer.Argument(metavar="ADDRESS", help="The address of `study run --listen`.")
    ],
    certificate: Certificate = None,
) -> None:
    """Make runs on this host for a study that another host leads.

    Examples:
      heapwright study worker leader:7000 --certificate study.pem
      heapwright study worker leader:7000
    """
    commands.study_worker.serve_study(address, certificate)


def _hosts(
    scheduler: str | None, listen: str | None, hosts: str | None, *, insecure: bool
) -> tuple[str, ...]:
    """The names of `--hosts`; options that exclude each other are refused."""
    if scheduler is not None and (listen is not None or hosts is not None):
        raise typer.BadParameter(
            "--scheduler names a running scheduler: leave out --listen and --hosts"
        )
    if insecure and listen is None and hosts is None:
        raise typer.BadParameter("--insecure is for --listen and --hosts")
    names = tuple(piece.strip() for piece in (hosts or "").split(",") if piece.strip())
    if hosts is not None and not names:
        raise typer.BadParameter("--hosts names nobody")
    return names


def _leave(code: ExitCode) -> None:
    if code is not ExitCode.OK:
        raise typer.Exit(int(code))
