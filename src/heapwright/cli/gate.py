# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright gate`: for continuous integration: is the new slower than the old?

Options, reading and leaving; `analysis.gate` judges. docs/gate.md is the manual page.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import ValidationError

from heapwright.artefacts.comparison.document import Comparison
from heapwright.artefacts.gate.document import Change
from heapwright.base.errors import HeapwrightError
from heapwright.base.paths import is_folder
from heapwright.cli import options
from heapwright.cli.output import Outputs
from heapwright.cli.values import parse_fraction

if TYPE_CHECKING:
    from heapwright.analysis.gate.documents import Document

EXAMPLES = """
\b
Examples:
  heapwright compare -a mimalloc -n 20 --json now.json -- ./program
  heapwright gate before.json now.json --margin 3%
  heapwright gate before.json now.json --relative --response time,memory
"""

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


def gate(
    baseline: Annotated[
        Path,
        typer.Argument(
            metavar="BASELINE", help="What `compare --json` wrote before, or a study's results."
        ),
    ],
    current: Annotated[
        Path, typer.Argument(metavar="CURRENT", help="The same, of what is to be judged.")
    ],
    margin: Annotated[
        str, typer.Option(metavar="FRACTION", help="Changes up to this do not matter.")
    ] = "3%",
    confidence: Annotated[
        str, typer.Option(metavar="FRACTION", help="Of the answer, over all figures together.")
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
            help="Judge this treatment alone; may be repeated. Default: all in both.",
        ),
    ] = None,
    relative: Annotated[
        bool,
        typer.Option(
            "--relative", help="Judge ratios to each document's own baseline, not the figures."
        ),
    ] = False,
    accept_differences: Annotated[
        bool,
        typer.Option(
            "--accept-differences", help="Compare what another machine or command gave, too."
        ),
    ] = False,
    passes: Annotated[
        str,
        typer.Option("--pass", metavar="ANSWERS", help="Answers that leave with status 0."),
    ] = "same,faster",
    json_file: options.JsonFile = None,
    quiet: options.SentenceAlone = False,
) -> None:
    """Say in one sentence and by the exit status whether anything became slower."""
    from heapwright.analysis.gate.judge import Question, judge  # noqa: PLC0415
    from heapwright.cli.text import printing  # noqa: PLC0415
    from heapwright.report.console import make_console  # noqa: PLC0415
    from heapwright.report.gate import print_gate  # noqa: PLC0415

    question = Question(
        margin=parse_fraction(margin),
        confidence=parse_fraction(confidence),
        responses=() if responses is None else tuple(_names(responses)),
        treatments=tuple(treatments or ()),
        relative=relative,
        accept_differences=accept_differences,
    )
    passing = _passing(passes)
    outputs = Outputs(json=json_file)
    found = judge(_read(baseline), _read(current), question)
    failure = outputs.write(json=found.to_json)
    with printing():
        print_gate(make_console(outputs.stream), found, quiet=quiet)
    if failure is not None:
        raise failure
    if found.verdict not in passing:
        raise typer.Exit(STATUSES[found.verdict])


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


def _read(path: Path) -> "Document":
    from heapwright.analysis.gate.documents import of_comparison  # noqa: PLC0415

    if is_folder(path):
        from heapwright.analysis.gate.studies import of_results  # noqa: PLC0415
        from heapwright.artefacts.study_results.reader import open_results  # noqa: PLC0415

        return of_results(str(path), open_results(path))
    try:
        text = path.read_bytes()
    except OSError as error:
        raise HeapwrightError(f"{path} cannot be read: {error.strerror or error}") from error
    try:
        return of_comparison(str(path), Comparison.from_json(text))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the beginning"
        raise HeapwrightError(
            f"{path} is no comparison: {first['msg']} ({where})",
            "`heapwright compare --json FILE` writes one; of a study name the folder",
        ) from error
