# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Adds the answers to a study's questions to its analysis: findings, a choice, a bar with verdicts,
and published tables beside the measured figures.

The study and the published tables are read from their copies in the results folder, at the scale of
the runs (`artefacts.study.published.keep`). An unreadable table is a note and no error, because the
analysis is valid without it.
"""

from collections.abc import Iterator
from pathlib import Path

from heapwright.analysis.findings.acceptance import hold
from heapwright.analysis.findings.answer import answer, good_runs
from heapwright.analysis.findings.published import beside
from heapwright.analysis.findings.rules import Question
from heapwright.analysis.findings.sensitivity import cares
from heapwright.analysis.findings.substitution import choose
from heapwright.artefacts.study.file import parse_study
from heapwright.artefacts.study.model import Study
from heapwright.artefacts.study.published import (
    Line,
    PublishedSource,
    PublishedTable,
    read_lines,
)
from heapwright.artefacts.study_analysis.document import StudyAnalysis
from heapwright.artefacts.study_results.reader import Results
from heapwright.artefacts.study_results.runs import STUDY_FILE
from heapwright.base.errors import HeapwrightError


def with_published(results: Results, analysis: StudyAnalysis) -> StudyAnalysis:
    """The analysis with its findings answered and the published tables beside it."""
    where = str(results.folders[0].path / STUDY_FILE)
    try:
        study = parse_study(results.study_text, where, results.design.scale or None).study
    except HeapwrightError as error:
        note = f"findings and published tables are left out: {error.message}"
        return analysis.model_copy(update={"notes": (*analysis.notes, note)})
    notes: list[str] = []
    runs = good_runs(results.frame(), results.design)
    question = Question(runs, results.design, study.analysis.margin)
    tables = tuple(_tables(study, results, question, analysis, notes))
    return analysis.model_copy(
        update={
            "findings": answer(study, results.frame(), results.design),
            "choice": choose(study, question),
            "care": cares(study, question),
            "bar": hold(study, question, results.frame()),
            "published": tables,
            "notes": (*analysis.notes, *notes),
        }
    )


def _tables(
    study: Study,
    results: Results,
    question: Question,
    analysis: StudyAnalysis,
    notes: list[str],
) -> Iterator[PublishedTable]:
    for source in study.published:
        try:
            lines = _lines(source, results)
        except HeapwrightError as error:
            notes.append(f"a published table is left out: {error.message}")
        else:
            yield from beside(source, lines, question, analysis)


def _lines(source: PublishedSource, results: Results) -> tuple[Line, ...]:
    """The lines of a table, from the first folder that holds it."""
    paths = [folder.path / source.file for folder in results.folders]
    return read_lines(next(filter(Path.is_file, paths), paths[0]), source.kind)
