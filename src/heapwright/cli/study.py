# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright study`: factorial studies, each of them one file.

This file has the verbs that look at studies; those that run them are in `cli.study_run`.
docs/reference/study.md is the manual page of both the file and these verbs.
"""

from pathlib import Path
from typing import Annotated

import typer

from heapwright import commands
from heapwright.cli import options, study_run

app = options.application(
    name="study",
    help="Studies: factors and their levels in one file, run as randomised blocks.",
    no_args_is_help=True,
)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Seed = Annotated[
    int,
    typer.Option(
        min=0, max=options.LARGEST_SEED, help="Of a fraction that has no seed of its own."
    ),
]


@app.command("list")
def list_(as_json: AsJson = False) -> None:
    """List the studies that come with heapwright."""
    commands.study.list_studies(as_json=as_json)


@app.command()
def show(
    name: options.StudyName,
    scale: options.StudyScale = None,
    as_json: AsJson = False,
    seed: Seed = 0,
) -> None:
    """Show a study: its factors and responses, and what it comes to on this machine."""
    commands.study.show_study(name, scale, seed=seed, as_json=as_json)


@app.command()
def check(
    names: Annotated[list[str], typer.Argument(metavar="STUDY…", help="Files, or names.")],
    seed: Seed = 0,
) -> None:
    """Check study files, at all of their scales; what is wrong is said with the line."""
    commands.study.check_studies(names, seed)


@app.command("from")
def from_(
    profiles: Annotated[
        list[Path], typer.Argument(metavar="PROFILE…", help="Written by `profile --json`.")
    ],
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="FILE", help="The study; - is stdout.")
    ] = "-",
    name: Annotated[str, typer.Option(help="What the study is called.")] = "derived",
) -> None:
    """Derive a study from profiled programs: levels from how often, how much and how they allocate.

    Grouped by number of allocations, by the sizes among which 70 % of each program's lie, by their
    threads and patterns, as the published study did; for the workload uma-test."""
    commands.study_from.derive(profiles, output, name)


for verb in (study_run.run, study_run.resume, study_run.status, study_run.worker):
    app.command()(verb)
