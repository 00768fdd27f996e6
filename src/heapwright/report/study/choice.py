# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Whether one level is worth it: a table with a verdict a line, and all rivals when opened."""

from collections import Counter
from html import escape

from heapwright.artefacts.study.substitution import Overall, SubstitutionRow, SubstitutionTable
from heapwright.report.pages.parts import opened, table
from heapwright.report.study.view import StudyView
from heapwright.report.study_substitution import (
    choice_about,
    choice_cells,
    choice_explained,
    choice_headings,
    choice_next,
    rival_text,
)

CLASSES = {
    "worth it": "good",
    "not worth it": "bad",
    "a trade": "open",
    "cannot be told": "open",
    "pays": "good",
    "is matched": "open",
    "costs": "bad",
}


def choice(view: StudyView) -> str:
    """The section; empty if the study does not ask."""
    found = view.analysis.choice
    if found is None or not found.rows:
        return ""
    headings = (found.by, *found.about, *choice_headings(found), "verdict")
    rows = [_row(row, found) for row in found.rows]
    return (
        f"<p>{escape(_counted(found))} {escape(choice_explained(found))}</p>"
        + table(headings, rows, "figures choice", f"Is {found.custom} worth it?")
        + _rivals(found)
        + _next(found)
    )


def _next(found: SubstitutionTable) -> str:
    """What would decide the open levels."""
    advice = choice_next(found)
    return f"<p>{escape(advice)}</p>" if advice else ""


def _counted(found: SubstitutionTable) -> str:
    """How often which verdict was given."""
    counts = Counter(row.overall for row in found.rows)
    told = ", ".join(f"{each.value}: {counts[each]}" for each in Overall if counts[each])
    return f"Of {found.custom}, by {found.by}: {told}."


def _row(row: SubstitutionRow, found: SubstitutionTable) -> list[str]:
    return [
        escape(row.level),
        *map(escape, choice_about(row, found)),
        *map(_cell, choice_cells(row.responses)),
        _marked(row.overall.value),
    ]


def _cell(text: str) -> str:
    return _marked(text) if text in CLASSES else escape(text)


def _marked(text: str) -> str:
    return f'<span class="{CLASSES[text]}">{escape(text)}</span>'


def _rivals(found: SubstitutionTable) -> str:
    """Every figure that the verdicts are from."""
    rows = [
        [
            escape(row.level),
            escape(judged.response),
            escape(rival.level),
            escape(rival_text(rival)),
            f"{rival.blocks:,}",
            escape(rival.why or "-"),
        ]
        for row in found.rows
        for judged in row.responses
        for rival in (*judged.general, *judged.also, *judged.instead)
    ]
    inner = table((found.by, "response", "rival", "ratio", "blocks", "because"), rows, "figures")
    return opened("Every rival", inner)
