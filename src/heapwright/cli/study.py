# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright study`: factorial studies, each of them one file.

This file has the verbs that show and check studies. The verbs that run them are in `cli.study_run`.
docs/reference/study.md is the manual page of the study file and of these verbs.
"""

from pathlib import Path
from typing import Annotated

import typer

from heapwright import commands
from heapwright.cli import options, study_run

HELP = """\
Run studies: factors and their levels in one file, in randomised blocks.

Examples:
  heapwright study list
  heapwright study run costa-2014 --scale small -o results
"""

app = options.application(
    name="study",
    help=HELP,
    no_args_is_help=True,
)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Seed = Annotated[
    int,
    typer.Option(
        min=0, max=options.LARGEST_SEED, help="The seed of a fraction without a seed in the file."
    ),
]


@app.command("list")
def list_(as_json: AsJson = False) -> None:
    """List the studies that come with heapwright.

    Examples:
      heapwright study list
      heapwright study list --json
    """
    commands.study.list_studies(as_json=as_json)


@app.command()
def show(
    name: options.StudyName,
    scale: options.StudyScale = None,
    as_json: AsJson = False,
    seed: Seed = 0,
) -> None:
    """Show a study: its factors, its responses, and its number of runs on this machine.

    Examples:
      heapwright study show costa-2014
      heapwright study show mine.toml --scale small --json
    """
    commands.study.show_study(name, scale, seed=seed, as_json=as_json)


@app.command()
def check(
    names: Annotated[list[str], typer.Argument(metavar="STUDY…", help="Files, or names.")],
    seed: Seed = 0,
) -> None:
    """Check study files at all of their scales, and name the line of each error.

    Examples:
      heapwright study check mine.toml
      heapwright study check costa-2014 matias-2011-mysql
    """
    commands.study.check_studies(names, seed)


@app.command("from")
def from_(
    profiles: Annotated[
        list[Path], typer.Argument(metavar="PROFILE…", help="Written by `profile --json`.")
    ],
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="FILE", help="The study; - is stdout.")
    ] = "-",
    name: Annotated[str, typer.Option(help="The name of the study.")] = "derived",
) -> None:
    """Derive a study of the workload uma-test from profiles of programs.

    The levels follow the published method. Programs are grouped by their number of
    allocations, by the sizes of 70 % of them, by their threads and by their patterns.

    Examples:
      heapwright study from a.json b.json -o mine.toml
      heapwright study from *.json --name mine
    """
    commands.study_from.derive(profiles, output, name)


for verb in (study_run.run, study_run.resume, study_run.status, study_run.worker):
    app.command()(verb)
