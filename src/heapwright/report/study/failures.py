# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Failed runs: they are data, counted by outcome, and never a time."""

from html import escape

from heapwright.artefacts.study_analysis.document import Failure
from heapwright.base.polars_package import pl
from heapwright.report.pages.parts import table
from heapwright.report.study.view import RunKey, StudyView

FAILURE_HEADINGS = ("treatment", "good", "bad", "what it said")
MOST = 60
"""Treatments that are listed one by one."""


def wanted(view: StudyView) -> set[RunKey]:
    """The first bad run of each treatment that is listed: it says what happened."""
    shown = {each.treatment for each in _worst(view)}
    bad = view.frame.filter((pl.col("outcome") != "ok") & pl.col("treatment").is_in(list(shown)))
    first = bad.sort("block").unique("treatment", keep="first", maintain_order=True)
    return set(zip(first["block"], first["treatment"], strict=True))


def _worst(view: StudyView) -> list[Failure]:
    found = view.analysis.failures
    return sorted(found, key=lambda each: (each.ok, -sum(each.outcomes.values())))[:MOST]


def failures(view: StudyView) -> str:
    """All outcomes; by allocator; then the treatments, those without a good run first."""
    bad = {name: count for name, count in view.analysis.outcomes.items() if name != "ok"}
    if not bad:
        runs = sum(view.analysis.outcomes.values())
        if runs == 0:
            return "<p>There are no runs.</p>"
        return f"<p>None: all {runs:,} runs ended well.</p>"
    counts = ", ".join(f"{count:,} {name}" for name, count in bad.items())
    parts = [
        f"<p>{escape(counts)}. None of these is a figure anywhere on this page.</p>",
        _by_allocator(view),
        _treatments(view),
    ]
    return "\n".join(part for part in parts if part)


def _by_allocator(view: StudyView) -> str:
    column = view.allocators
    if column is None:
        return ""
    counted = view.frame.group_by(column.name, "outcome").len()
    counts = {(name, outcome): count for name, outcome, count in counted.iter_rows()}
    outcomes = list(view.analysis.outcomes)
    rows = [
        [escape(level), *(f"{counts.get((level, outcome), 0):,}" for outcome in outcomes)]
        for level in column.levels
    ]
    return table((column.title, *outcomes), rows, "figures")


def _treatments(view: StudyView) -> str:
    rows = [[escape(cell) for cell in row] for row in failure_rows(view)]
    left = len(view.analysis.failures) - len(rows)
    more = f'<p class="dim">{left:,} further treatments had failures.</p>' if left > 0 else ""
    return table(FAILURE_HEADINGS, rows, "failures") + more


def failure_rows(view: StudyView) -> list[tuple[str, str, str, str]]:
    """The treatments with failed runs, those without a good run first, as text."""
    details = {run.treatment: run.detail for run in view.runs.values() if run.outcome != "ok"}
    return [
        (
            ", ".join(f"{factor} {level}" for factor, level in each.levels.items()),
            f"{each.ok:,}",
            ", ".join(f"{count:,} {name}" for name, count in each.outcomes.items()),
            _first_line(details.get(each.treatment, "")),
        )
        for each in _worst(view)
    ]


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "-")
