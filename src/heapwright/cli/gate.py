# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright gate`: is a new version slower than the old one? For continuous integration.

This file is the command line only; `commands.gate` does the work. docs/reference/gate.md is the
manual page.
"""

from pathlib import Path
from typing import Annotated

import typer

from heapwright import commands
from heapwright.artefacts.gate.document import Change
from heapwright.base.errors import HeapwrightError
from heapwright.cli import options
from heapwright.cli.values import parse_fraction

STATUSES = {
    Change.SAME: 0,
    Change.SLOWER: 10,
    Change.LARGER: 10,
    Change.FASTER: 11,
    Change.SMALLER: 11,
    Change.UNDECIDED: 12,
    Change.BROKEN: 13,
}
PASSES = {
    "same": {Change.SAME},
    "faster": {Change.FASTER, Change.SMALLER},
    "slower": {Change.SLOWER, Change.LARGER},
    "undecided": {Change.UNDECIDED},
}


app = options.application()


@app.command("gate")
def gate(
    baseline: Annotated[
        Path,
        typer.Argument(
            metavar="BASELINE", help="A document of `compare --json`, or the results of a study."
        ),
    ],
    current: Annotated[
        Path | None,
        typer.Argument(
            metavar="[CURRENT]",
            help="The same for the version to judge. Without it the first document holds both "
            "sides: each treatment is judged against its baseline.",
        ),
    ] = None,
    margin: Annotated[
        str | None,
        typer.Option(
            metavar="FRACTION",
            help="Changes up to this do not matter. Default: 3%, of exact counts 0.1%.",
        ),
    ] = None,
    confidence: Annotated[
        str,
        typer.Option(
            metavar="FRACTION", help="The confidence of the answer, over all figures together."
        ),
    ] = "95%",
    responses: Annotated[
        str | None,
        typer.Option(
            "--response",
            metavar="NAMES",
            help="time, memory, cpu, or what else was measured; with commas. Default: time.",
        ),
    ] = None,
    treatments: Annotated[
        list[str] | None,
        typer.Option(
            "-a",
            "--treatment",
            metavar="LABEL",
            help="Judge this treatment only. May be repeated. Default: all in both.",
        ),
    ] = None,
    relative: Annotated[
        bool | None,
        typer.Option(
            "--relative/--absolute",
            help="Judge ratios to each document's own baseline, or the figures. Default: ratios, "
            "where both documents have the same baseline.",
        ),
    ] = None,
    accept_differences: Annotated[
        bool,
        typer.Option(
            "--accept-differences", help="Also compare documents of different machines or commands."
        ),
    ] = False,
    exact: Annotated[
        bool,
        typer.Option("--exact", help="Accept only documents of `compare --exact`."),
    ] = False,
    passes: Annotated[
        str,
        typer.Option("--pass", metavar="ANSWERS", help="The answers with exit status 0."),
    ] = "same,faster",
    json_file: options.JsonFile = None,
    markdown: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Write the answer in Markdown, for a comment or a job's summary; - is stdout.",
        ),
    ] = None,
    svg: Annotated[
        str | None,
        typer.Option("--svg", metavar="FILE", help="Draw the figures, with intervals and margin."),
    ] = None,
    quiet: options.SentenceAlone = False,
) -> None:
    """Check for a slowdown: one sentence and an exit status for continuous integration.

    Examples:
      heapwright gate before.json now.json --margin 3%
      heapwright gate before.json now.json --response time,memory
      heapwright gate both.json --markdown comment.md --svg picture.svg
    """
    if current is None and relative is False:
        raise HeapwrightError(
            "--absolute needs two documents", "one document compares treatments in the same blocks"
        )
    passing = _passing(passes)
    found = commands.gate.run_gate(
        commands.gate.Options(
            baseline=baseline,
            current=current,
            margin=None if margin is None else parse_fraction(margin, "--margin"),
            confidence=parse_fraction(confidence, "--confidence"),
            responses=() if responses is None else tuple(_names(responses)),
            treatments=tuple(treatments or ()),
            relative=relative,
            accept_differences=accept_differences,
            json_file=json_file,
            markdown=markdown,
            svg=svg,
            quiet=quiet,
            exact=exact,
        )
    )
    if found not in passing:
        raise typer.Exit(STATUSES[found])


def _names(text: str) -> list[str]:
    names = [piece.strip() for piece in text.split(",") if piece.strip()]
    return names or _refuse("--response names nothing")


def _passing(text: str) -> set[Change]:
    names = [piece.strip() for piece in text.split(",") if piece.strip()]
    for name in names:
        if name not in PASSES:
            _refuse(f"--pass {name!r} is no answer; there are {', '.join(PASSES)}")
    return set().union(*(PASSES[name] for name in names))


def _refuse(words: str) -> list[str]:
    raise typer.BadParameter(words)
