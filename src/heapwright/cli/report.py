# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright report`: a page of a study, a profile or a taxonomy; its figures and tables; a PDF.

This file is the command line only; `commands.report` does the work. docs/how-to/reading-a-study.md
explains the page of a study.
"""

from pathlib import Path
from typing import Annotated

import typer

from heapwright import commands
from heapwright.base.errors import ExitCode
from heapwright.cli import options

app = options.application()


@app.command("report")
def report(
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="RESULTS",
            help="Folders of one study; or one profile, trace or taxonomy.",
            show_default=False,
        ),
    ],
    output: Annotated[
        str | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="The page; in Markdown for NAME.md; - is stdout."
        ),
    ] = None,
    pdf: Annotated[
        str | None,
        typer.Option("--pdf", metavar="FILE", help="The page as PDF. Needs Chromium."),
    ] = None,
    figures: Annotated[
        Path | None,
        typer.Option("--figures", metavar="DIR", help="Each figure as SVG, PNG and CSV."),
    ] = None,
    latex: Annotated[
        str | None,
        typer.Option(
            "--latex", metavar="FILE", help="Each table for LaTeX, with the package booktabs."
        ),
    ] = None,
    runs: Annotated[
        Path | None,
        typer.Option("--runs", metavar="DIR", help="The runs of a study, compressed."),
    ] = None,
    process: options.ProcessNumber = None,
    quiet: Annotated[
        bool, typer.Option("-q", "--quiet", help="Do not print the names of the files.")
    ] = False,
) -> None:
    """Write a page of results that needs no other file, and figures for papers.

    Examples:
      heapwright report results -o page.html
      heapwright report T -o page.html --figures figures
      heapwright report results --latex tables.tex
      heapwright report results -o kept/README.md --runs kept
      heapwright report profile.json --pdf profile.pdf
    """
    status = commands.report.run_report(
        commands.report.Options(
            sources=tuple(sources),
            output=output,
            pdf=pdf,
            figures=figures,
            latex=latex,
            runs=runs,
            process=process,
            quiet=quiet,
        )
    )
    if status is not ExitCode.OK:
        raise typer.Exit(int(status))
