# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright analyse`: analyse the runs of a study.

This file is the command line only; `commands.analyse` does the work.
docs/reference/analysis-json.md is the manual page, docs/explanation/methods.md has the methods.
"""

from pathlib import Path
from typing import Annotated

import typer

from heapwright import commands
from heapwright.base.errors import ExitCode
from heapwright.cli import options
from heapwright.cli.values import parse_fraction

app = options.application()


@app.command("analyse")
def analyse(
    results: Annotated[
        list[Path],
        typer.Argument(
            metavar="RESULTS",
            help="Folders of `study run -o`. Several folders of one study are joined.",
        ),
    ],
    responses: Annotated[
        list[str] | None,
        typer.Option(
            "--response", metavar="NAME", help="Analyse this response only. May be repeated."
        ),
    ] = None,
    interactions: Annotated[
        list[str] | None,
        typer.Option(
            "--interaction",
            metavar="A:B:C",
            help="Analyse this interaction of three factors too. May be repeated.",
        ),
    ] = None,
    confidence: Annotated[
        str | None,
        typer.Option(
            metavar="FRACTION",
            help="The level of intervals and groups. Default: the level of the study.",
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write the document; - is stdout."),
    ] = None,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print the verdict only.")] = False,
) -> None:
    """Analyse the runs of a study: variance, groups, ratios, growth, rankings, agreement.

    Examples:
      heapwright analyse results
      heapwright analyse monday friday -o analysis.json
      heapwright analyse results --interaction cpus:threads:allocations
    """
    level = None if confidence is None else parse_fraction(confidence, "--confidence")
    status = commands.analyse.run_analyse(
        commands.analyse.Options(
            results=tuple(results),
            responses=tuple(responses or ()),
            interactions=tuple(tuple(each.split(":")) for each in interactions or ()),
            confidence=level,
            output=output,
            quiet=quiet,
        )
    )
    if status is not ExitCode.OK:
        raise typer.Exit(int(status))
