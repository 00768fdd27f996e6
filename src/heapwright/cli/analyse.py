# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright analyse`: what do the runs of a study say?

Options, reading and leaving; `cli.analysing` joins results and analysis. docs/analysis-json.md is
the manual page, docs/methods.md has the methods.
"""

from pathlib import Path
from typing import Annotated

import typer

from heapwright.base.errors import ExitCode
from heapwright.cli.output import Outputs
from heapwright.cli.values import parse_fraction

EXAMPLES = """
\b
Examples:
  heapwright analyse results
  heapwright analyse monday friday -o analysis.json
  heapwright analyse results --response time --interaction cpus:threads:allocations
"""


def analyse(
    results: Annotated[
        list[Path],
        typer.Argument(
            metavar="RESULTS", help="What `study run -o` wrote; several of the same study join."
        ),
    ],
    responses: Annotated[
        list[str] | None,
        typer.Option("--response", metavar="NAME", help="This one only. May be repeated."),
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
        typer.Option(metavar="FRACTION", help="Of intervals and groups. Default: the study's."),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write the document; - is stdout."),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("-q", "--quiet", help="Print the verdict and nothing else.")
    ] = False,
) -> None:
    """Analyse the runs of a study: variance, groups, ratios, growth, rankings, agreement."""
    level = None if confidence is None else parse_fraction(confidence)
    outputs = Outputs(output=output)
    from heapwright.artefacts.study_results.reader import open_results  # noqa: PLC0415
    from heapwright.cli.analysing import analyse_results  # noqa: PLC0415
    from heapwright.cli.text import printing  # noqa: PLC0415
    from heapwright.report.console import make_console  # noqa: PLC0415
    from heapwright.report.study_analysis import print_analysis, print_verdict  # noqa: PLC0415

    analysis = analyse_results(
        open_results(*results),
        interactions=[each.split(":") for each in interactions or ()],
        responses=responses or (),
        confidence=level,
    )
    failure = outputs.write(output=analysis.to_json)
    with printing():
        console = make_console(outputs.stream)
        if quiet:
            print_verdict(console, analysis)
        else:
            print_analysis(console, analysis)
    if failure is not None:
        raise failure
    if not any(each.runs for each in analysis.responses):
        raise typer.Exit(int(ExitCode.NOTHING_COMPARED))
