# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Published results: whether each finding holds here, and each table beside the measured one."""

from collections import Counter
from html import escape

from heapwright.artefacts.study.published import Cell, PublishedRow, PublishedTable
from heapwright.artefacts.study_analysis.answers import Figure, FindingResult
from heapwright.report.pages.parts import opened, table
from heapwright.report.profile.words import digits
from heapwright.report.study.view import StudyView

MOST_ROWS = 150
MOST_PRINTED = 30
"""Rows of a published table that is on paper, too."""
CLASSES = {"holds": "good", "does not hold": "bad", "cannot be told": "open"}


def findings(view: StudyView) -> str:
    """The table of findings, after how many hold."""
    found = view.analysis.findings
    if not found:
        return ""
    counts = Counter(str(each.verdict) for each in found)
    told = ", ".join(
        f"{counts[name]} {_plural(name, counts[name])}" for name in CLASSES if counts[name]
    )
    headings = ("here", "claim", "published", "ours", "why")
    rows = [
        [
            f'<span class="{CLASSES[str(each.verdict)]}">{escape(str(each.verdict))}</span>',
            f"{escape(each.words)}{_dim(each.source)}",
            escape(each.published or "-"),
            escape(each.ours or "-").replace("; ", "<br>") + _dim(each.today),
            escape(each.why or "-"),
        ]
        for each in found
    ]
    return (
        f"<p>Of {_several(len(found), 'finding')}: {told}.</p>"
        + table(headings, rows, "findings", "Findings")
        + _figures(found)
    )


def _plural(name: str, count: int) -> str:
    if count == 1:
        return name
    return {"holds": "hold", "does not hold": "do not hold"}.get(name, name)


def _several(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _dim(text: str) -> str:
    return f'<br><span class="dim">{escape(text)}</span>' if text else ""


def _figures(found: tuple[FindingResult, ...]) -> str:
    """What each finding was judged by."""
    rows = [
        [escape(each.id), escape(figure.what), *_judged(figure), escape(figure.why or "-")]
        for each in found
        for figure in each.figures
    ]
    if not rows:
        return ""
    inner = table(("finding", "figure", "value", "asked", "here", "because"), rows, "figures")
    return opened("The figures that they are judged by", inner)


def _judged(figure: Figure) -> list[str]:
    interval = (
        ""
        if figure.low is None or figure.high is None
        else f" ({digits(figure.low)} to {digits(figure.high)})"
    )
    value = "-" if figure.value is None else f"{digits(figure.value)}{interval} {figure.unit}"
    limits = [
        f"{words} {digits(limit)}"
        for words, limit in (("above", figure.above), ("below", figure.below))
        if limit is not None
    ]
    return [
        escape(value.rstrip()),
        escape(", ".join(limits) or "-"),
        f'<span class="{CLASSES[str(figure.verdict)]}">{escape(str(figure.verdict))}</span>',
    ]


def published(view: StudyView) -> str:
    """The published tables, each with the measured figure in the column beside."""
    tables = [each for each in view.analysis.published if each.rows]
    return "\n".join(_published(each) for each in tables)


def _published(found: PublishedTable) -> str:
    shown = found.rows[:MOST_ROWS]
    left = len(found.rows) - len(shown)
    facts = [found.source, found.note]
    if found.agreement is not None:
        facts.append(
            f"Kendall's τ between the two columns: {found.agreement.tau:.2f} "
            f"over {found.agreement.rows} rows"
        )
    about = ". ".join(fact.rstrip(".") for fact in facts if fact)
    unit = f" ({found.unit})" if found.unit else ""
    columns = [name for name in found.columns if any(name in row.published for row in found.rows)]
    explained = any(row.why for row in found.rows)
    headings = (
        *found.keys,
        *(f"{name}, published" for name in columns),
        *(f"{name}, here" for name in columns),
        *(("here / published", "why") if explained else ()),
    )
    more = f'<p class="dim">{left:,} more rows are in the document.</p>' if left else ""
    return opened(
        f"{found.title}: {found.response}{unit}",
        f"<p>{escape(about)}.</p>" if about else "",
        table(
            headings,
            [
                [*_row(each, found, columns), *_explained(each, explained=explained)]
                for each in shown
            ],
            "figures",
        ),
        more,
        printed=len(shown) <= MOST_PRINTED,
    )


def _row(row: PublishedRow, found: PublishedTable, columns: list[str]) -> list[str]:
    keys = [escape(row.keys.get(key, "") or "all") for key in found.keys]
    ours = [_cell(row.ours.get(column)) for column in columns]
    if ours and row.low is not None and row.high is not None:
        ours[0] += f" ({_cell(row.low)} to {_cell(row.high)})"
    if ours and not row.ours and row.because:
        ours[0] = escape(row.because)
    return [*keys, *(_cell(row.published.get(column)) for column in columns), *ours]


def _explained(row: PublishedRow, *, explained: bool) -> list[str]:
    """How far apart the first figures are, and why."""
    return [_cell(row.ratio), escape(row.why or "-")] if explained else []


def _cell(value: Cell) -> str:
    if value is None:
        return "-"
    return escape(value) if isinstance(value, str) else f"{value:,.4g}"
