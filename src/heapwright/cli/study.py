# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright study`: factorial studies, each of them one file.

This file has the verbs that look at studies; those that run them are in `cli.study_run`.
docs/study.md is the manual page of both the file and these verbs.
"""

import json
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    help="Studies: factors and their levels in one file, run as randomised blocks.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Name = Annotated[str, typer.Argument(metavar="STUDY", help="A name of the list, or a file.")]
Scale = Annotated[
    str | None, typer.Option("--scale", metavar="NAME", help="One of the study's scales: small.")
]
Seed = Annotated[int, typer.Option(min=0, help="Of a fraction that has no seed of its own.")]


@app.command("list")
def list_(as_json: AsJson = False) -> None:
    """List the studies that come with heapwright."""
    from heapwright.cli.studying import studies_json  # noqa: PLC0415
    from heapwright.cli.text import printing  # noqa: PLC0415
    from heapwright.report.console import make_console  # noqa: PLC0415
    from heapwright.report.study_text import print_studies  # noqa: PLC0415
    from heapwright.study.library import every_study  # noqa: PLC0415

    found = list(every_study())
    with printing():
        if as_json:
            typer.echo(json.dumps(studies_json(found), indent=2, ensure_ascii=False))
        else:
            print_studies(make_console(), [file.study for file in found])


@app.command()
def show(name: Name, scale: Scale = None, as_json: AsJson = False, seed: Seed = 0) -> None:
    """Show a study: its factors and responses, and what it comes to on this machine."""
    from heapwright.cli.studying import show_study  # noqa: PLC0415

    show_study(name, scale, seed=seed, as_json=as_json)


@app.command()
def check(
    names: Annotated[list[str], typer.Argument(metavar="STUDY…", help="Files, or names.")],
    seed: Seed = 0,
) -> None:
    """Check study files, at all of their scales; what is wrong is said with the line."""
    from heapwright.cli.studying import check_studies  # noqa: PLC0415

    check_studies(names, seed)


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
    from heapwright.cli.study_deriving import derive  # noqa: PLC0415

    derive(profiles, output, name)
