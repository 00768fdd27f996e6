# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What matters: the analysis of variance, effect sizes first, and whether its assumptions hold."""

from collections.abc import Sequence
from html import escape

from heapwright.artefacts.study_analysis.terms import AnovaTerm, Diagnostics, Section
from heapwright.report.pages.parts import beside, key, opened, table
from heapwright.report.profile.words import digits, share
from heapwright.report.study import charts
from heapwright.report.study.axes import Row
from heapwright.report.study.figures import Figures
from heapwright.report.study.units import crossed, p_text
from heapwright.report.study.view import Response, StudyView

SMALLEST_SHARE = 0.0005
ALPHA = 0.05
HEADINGS = (
    *("term", "df", "sum of squares", "mean square", "F", "p", "η²", "partial η²"),
    *("F, ranks", "p, ranks"),
)


def variance(view: StudyView, figures: Figures) -> str:
    """A part for each response that was analysed."""
    return "\n".join(part for each in view.responses if (part := _of_response(each, figures)))


def _of_response(response: Response, figures: Figures) -> str:
    overall = response.analysis.overall
    if overall is None or not overall.anova:
        return ""
    parts = [f"<h3>{escape(response.words)}</h3>", f"<p>{escape(_model(response, overall))}</p>"]
    parts.append(_warnings(overall.diagnostics))
    parts.append(beside(_shares(response, overall, figures), _normal(response, overall, figures)))
    parts.append(opened("The table of variance", _table(overall), printed=True))
    alone = [
        opened(each.allocator or "", _notes(each), _warnings(each.diagnostics), _table(each))
        for each in response.analysis.allocators
        if each.anova
    ]
    parts.append(opened("Each allocator alone", *alone))
    return "\n".join(part for part in parts if part)


def _model(response: Response, section: Section) -> str:
    what = f"log {response.name}" if response.logarithmic else response.name
    sums = "" if section.sums == "sequential" else ", each term adjusted for the others (type II)"
    balance = "" if section.balanced else " Not every treatment is in every block."
    return (
        f"Model of {what}: {section.runs:,} runs, {section.treatments:,} treatments, "
        f"{section.blocks} blocks{sums}.{balance} "
        f"One run scatters by {_scatter(response, section)}."
    )


def _scatter(response: Response, section: Section) -> str:
    if section.residual_sd is None:
        return "an unknown amount"
    if response.logarithmic:
        return f"about {share(section.residual_sd)}"
    return f"{digits(section.residual_sd)} {response.analysis.unit}".rstrip()


def _warnings(found: Diagnostics) -> str:
    if not found.warnings:
        return ""
    lines = "".join(f"<li>{escape(line)}</li>" for line in found.warnings)
    return f'<div class="warning"><ul>{lines}</ul></div>'


def _notes(section: Section) -> str:
    return "".join(f"<p>{escape(note)}</p>" for note in section.notes)


def _shares(response: Response, section: Section, figures: Figures) -> str:
    rows: list[Row] = [
        {
            "term": crossed(term.term.split(":")),
            "share": float(f"{100 * term.eta_sq:.4g}"),
            "p": term.p,
            "significant": "-" if term.p is None else "yes" if term.p < ALPHA else "no",
        }
        for term in sorted(section.anova, key=lambda term: -(term.eta_sq or 0.0))
        if term.eta_sq is not None and term.eta_sq >= SMALLEST_SHARE
    ]
    if not rows:
        return ""
    label = f"{response.words}: what its scatter is due to (η²)"
    spec = charts.shares(rows, "share of all scatter, η² (%)")
    place = figures.single(f"{response.name}/shares", spec, label, rows)
    return "<h4>What the scatter is due to</h4>" + key(_meanings(rows)) + place


def _meanings(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """What the colours that occur mean."""
    words = {"yes": f"p < {ALPHA}", "no": "may be chance", "-": "within treatments"}
    found = {row["significant"] for row in rows}
    return [(words[name], shade) for name, shade in charts.SURE.items() if name in found]


def _normal(response: Response, section: Section, figures: Figures) -> str:
    points = section.diagnostics.quantiles
    if len(points) < 3:
        return ""
    rows: list[Row] = [
        {"expected": float(f"{expected:.4g}"), "residual": float(f"{residual:.4g}")}
        for expected, residual in points
    ]
    label = f"{response.words}: are the residuals normal? They are where the points are on the line"
    return "<h4>Residuals</h4>" + figures.single(
        f"{response.name}/residuals", charts.normal_plot(rows), label, rows
    )


def _table(section: Section) -> str:
    return table(HEADINGS, [_line(term) for term in section.anova], "figures")


def _line(term: AnovaTerm) -> list[str]:
    lost = f" ({term.df_lost} lost)" if term.df_lost else ""
    return [
        escape(crossed(term.term.split(":"))),
        f"{term.df}{lost}",
        f"{term.sum_sq:.4g}",
        "-" if term.mean_sq is None else f"{term.mean_sq:.4g}",
        "-" if term.f is None else digits(term.f),
        p_text(term.p),
        share(term.eta_sq),
        share(term.partial_eta_sq),
        "-" if term.rank_f is None else digits(term.rank_f),
        p_text(term.rank_p),
    ]
