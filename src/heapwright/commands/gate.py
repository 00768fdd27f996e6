# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The work of `heapwright gate`: reads two documents, judges what changed, and prints it."""

from dataclasses import dataclass
from pathlib import Path

from heapwright.analysis.gate.documents import Document, of_comparison
from heapwright.analysis.gate.judge import Question, judge, judge_within
from heapwright.analysis.gate.studies import of_results
from heapwright.artefacts.comparison.document import Comparison
from heapwright.artefacts.documents import parsed
from heapwright.artefacts.gate.document import Change
from heapwright.artefacts.study_results.reader import open_results
from heapwright.base.errors import HeapwrightError
from heapwright.base.paths import is_folder
from heapwright.commands.output import Outputs
from heapwright.commands.text import printing
from heapwright.report.console import make_console
from heapwright.report.gate import print_gate
from heapwright.report.gate_picture import gate_markdown, gate_svg

MARGIN = 0.03
EXACT_MARGIN = 0.001
"""Covers the few instructions that depend on the lengths of paths and of the environment."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options of the command line."""

    baseline: Path
    current: Path | None
    """None: `baseline` holds both sides."""
    margin: float | None
    """None: the default for the kind of figures."""
    confidence: float
    responses: tuple[str, ...]
    treatments: tuple[str, ...]
    relative: bool | None
    accept_differences: bool
    json_file: str | None
    quiet: bool
    markdown: str | None = None
    svg: str | None = None
    exact: bool = False
    """Refuse documents without exact counts."""


def run_gate(options: Options) -> Change:
    """Judge and print; the verdict. Raises HeapwrightError."""
    first = _read(options.baseline)
    second = None if options.current is None else _read(options.current)
    if options.exact:
        for document in filter(None, (first, second)):
            _refuse_times(document)
    margin = EXACT_MARGIN if first.is_exact else MARGIN
    question = Question(
        margin=margin if options.margin is None else options.margin,
        confidence=options.confidence,
        responses=options.responses,
        treatments=options.treatments,
        relative=options.relative,
        accept_differences=options.accept_differences,
    )
    outputs = Outputs(json=options.json_file, markdown=options.markdown, svg=options.svg)
    found = judge_within(first, question) if second is None else judge(first, second, question)
    failure = outputs.write(
        json=found.to_json, markdown=lambda: gate_markdown(found), svg=lambda: gate_svg(found)
    )
    with printing():
        print_gate(make_console(outputs.stream), found, quiet=options.quiet)
    if failure is not None:
        raise failure
    return found.verdict


def _refuse_times(document: Document) -> None:
    """Raises HeapwrightError for a document without exact counts."""
    if not document.is_exact:
        raise HeapwrightError(
            f"{document.name} has times and no exact counts",
            "count with: heapwright compare --exact --json FILE -- COMMAND",
        )


def _read(path: Path) -> Document:
    if is_folder(path):
        return of_results(str(path), open_results(path))
    try:
        text = path.read_bytes()
    except OSError as error:
        raise HeapwrightError(f"{path} cannot be read: {error.strerror or error}") from error
    return of_comparison(str(path), parsed(Comparison, text, path, "a comparison"))
