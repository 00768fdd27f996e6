# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The allocators in order, and against the baseline: overall, by level, in each combination."""

from collections.abc import Sequence
from html import escape

from heapwright.artefacts.study_analysis.document import Ranking, RankingEntry
from heapwright.report.pages.parts import beside, key, opened, table
from heapwright.report.study import charts
from heapwright.report.study.axes import Column, Row, evenly, measure
from heapwright.report.study.figures import Figures
from heapwright.report.study.units import percent, ratio_text, text_of
from heapwright.report.study.view import Response, StudyView

MOST_TICKS = 120
"""Ratios of an allocator that are drawn."""
HEADINGS = ("allocator", "mean", "over the best", "group", "to the baseline", "runs")


def rankings(view: StudyView, figures: Figures) -> str:
    """Nothing where no factor chooses the allocator."""
    if view.allocators is None:
        return ""
    return "\n".join(part for each in view.responses if (part := _of_response(each, figures)))


def _of_response(response: Response, figures: Figures) -> str:
    overall = response.analysis.ranking()
    if overall is None or not overall.entries or response.analysis.better == "none":
        return ""
    baseline = response.view.analysis.baseline
    parts = [
        f"<h3>{escape(response.words)}</h3>",
        f"<p>{escape(_about(response, overall))}</p>",
        beside(
            _chart(response, overall, figures),
            table(HEADINGS, [_cells(response, each) for each in overall.entries], "figures"),
        ),
        _by_level(response),
    ]
    if baseline:
        parts.append(_ratios(response, figures))
    return "\n".join(part for part in parts if part)


def _about(response: Response, ranking: Ranking) -> str:
    kind = "Geometric means" if response.logarithmic else "Instrument"
    words = f"{kind} over {_several(ranking.cells, 'combination')} of the other factors"
    if ranking.left_out:
        words += f" ({ranking.left_out} more are left out: an allocator has no good run there)"
    if ranking.absent:
        words += f". Without a good run: {', '.join(ranking.absent)}"
    return words + ". These runs do not distinguish allocators that share a letter."


def _several(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def _cells(response: Response, entry: RankingEntry) -> list[str]:
    over = entry.percent_over_best
    ratio = "-" if entry.ratio is None else ratio_text(entry.ratio, entry.low, entry.high)
    if entry.allocator == response.view.analysis.baseline:
        ratio = "1"
    failed = f", {entry.failed} failed" if entry.failed else ""
    return [
        escape(entry.allocator),
        escape(text_of(response.measured, entry.mean)),
        "best" if entry.place == 1 else "-" if over is None else percent(over),
        escape(entry.group or "-"),
        ratio,
        f"{entry.runs:,}{failed}",
    ]


def _chart(response: Response, ranking: Ranking, figures: Figures) -> str:
    what = response.view.allocators
    assert what is not None
    bars = {row[what.column]: row for row in response.means(what.name)}
    rows: list[Row] = [
        {
            what.column: entry.allocator,
            "mean": response.unit.drawn(entry.mean),
            **_bar(bars.get(entry.allocator), response.unit.drawn(entry.mean)),
            "over the best": "best"
            if entry.place == 1
            else percent(entry.percent_over_best)
            if entry.percent_over_best is not None
            else "",
            "group": entry.group,
        }
        for entry in ranking.entries
    ]
    ends = [row[end] for row in rows for end in ("mean", "low", "high")]
    x = measure(response.title, ends, logarithmic=response.logarithmic)
    label = f"{response.words}: the allocators, best first"
    return figures.single(f"{response.name}/ranking", charts.ranking(rows, what, x), label, rows)


def _bar(found: Row | None, mean: float | None) -> Row:
    """The interval of the mean, if the mean that it is of is the ranking's."""
    known = None if found is None else found["mean"]
    if found is None or known is None or mean is None or abs(known - mean) > 1e-3 * abs(mean):
        return {"low": None, "high": None}
    return {"low": found["low"], "high": found["high"]}


def _by_level(response: Response) -> str:
    """The rank at each level of each factor, in a table that can be opened."""
    allocators = response.view.allocators
    assert allocators is not None
    rows = []
    for ranking in response.analysis.rankings:
        if len(ranking.scope) != 1:
            continue
        ((factor, level),) = ranking.scope.items()
        if len(response.view.columns[factor].levels) < 2:
            continue
        entries = {entry.allocator: entry for entry in ranking.entries}
        cells = [_place(entries.get(name)) for name in allocators.levels]
        rows.append([f"{escape(factor)} {escape(level)}", *cells])
    if not rows:
        return ""
    inner = table(("where", *allocators.levels), rows, "figures")
    told = "<p>Over the best there, and the group.</p>"
    return opened("At each level of each factor", told, inner, printed=True)


def _place(entry: RankingEntry | None) -> str:
    if entry is None:
        return "-"
    over = entry.percent_over_best
    words = "best" if entry.place == 1 else "-" if over is None else percent(over)
    text = f"{words} {escape(entry.group)}".rstrip()
    return f"<b>{text}</b>" if entry.place == 1 else text


def _ratios(response: Response, figures: Figures) -> str:
    """In how many combinations each allocator is better than the baseline, and by how much."""
    allocators = response.view.allocators
    assert allocators is not None
    rows = cell_ratios(response)
    if not rows:
        return ""
    names = [
        name for name in allocators.levels if any(row[allocators.column] == name for row in rows)
    ]
    what = Column(allocators.name, tuple(names), allocators.title)
    drawn = [row for level in what.levels for row in _thinned(rows, what, level)]
    x = measure(
        f"{response.name}, ratio to {response.view.analysis.baseline}",
        [1.0, *(row["ratio"] for row in rows)],
        logarithmic=True,
    )
    label = f"{response.words}: ratio to the baseline in each combination of the other factors"
    place = figures.single(f"{response.name}/ratios", charts.ratios(drawn, what, x), label, drawn)
    sampled = (
        f" {len(drawn):,} of {len(rows):,} are drawn, evenly by size, the ends among them."
        if len(drawn) < len(rows)
        else ""
    )
    return (
        f"<h4>Against {escape(response.view.analysis.baseline)}, combination by combination</h4>"
        f"<p>A tick is one combination of the other factors.{sampled}</p>"
        + (key(charts.VERDICTS) if _judged(rows) else "")
        + place
        + _tally(rows, what)
    )


def cell_ratios(response: Response) -> list[Row]:
    """A ratio a combination and allocator: with an interval where the analysis has one."""
    allocators = response.view.allocators
    assert allocators is not None
    others = {each.name for each in response.view.others}
    found = [each for each in response.analysis.rankings if set(each.scope) >= others and others]
    lower = response.analysis.better == "lower"
    if found:
        return [
            _ratio_row(allocators, each.scope, entry, lower=lower)
            for each in found
            for entry in each.entries
            if entry.ratio is not None and entry.allocator != response.view.analysis.baseline
        ]
    return _plain_ratios(response, allocators) if others else []


def _thinned(rows: Sequence[Row], what: Column, level: str) -> list[Row]:
    """The ratios of one allocator; of many some, evenly from the smallest to the largest."""
    mine = sorted((row for row in rows if row[what.column] == level), key=lambda row: row["ratio"])
    return [mine[place] for place in evenly(len(mine), MOST_TICKS)]


def _ratio_row(what: Column, scope: dict[str, str], entry: RankingEntry, *, lower: bool) -> Row:
    verdict = "not told apart"
    if entry.low is not None and entry.high is not None:
        if entry.high < 1:
            verdict = "better" if lower else "worse"
        elif entry.low > 1:
            verdict = "worse" if lower else "better"
    return {
        what.column: entry.allocator,
        "cell": _cell_name(scope),
        "ratio": _four(entry.ratio),
        "low": _four(entry.low),
        "high": _four(entry.high),
        "verdict": verdict,
    }


def _plain_ratios(response: Response, what: Column) -> list[Row]:
    """Ratios of means, without intervals."""
    baseline = response.view.analysis.baseline
    means = {
        (cell.levels[what.name], _cell_name(_without(cell.levels, what.name))): cell.mean
        for cell in response.analysis.cells
    }
    return [
        {
            what.column: allocator,
            "cell": where,
            "ratio": _four(mean / under),
            "verdict": "not told apart",
        }
        for (allocator, where), mean in means.items()
        if allocator != baseline and (under := means.get((baseline, where))) and mean > 0
    ]


def _without(levels: dict[str, str], name: str) -> dict[str, str]:
    return {factor: level for factor, level in levels.items() if factor != name}


def _cell_name(scope: dict[str, str]) -> str:
    return ", ".join(f"{factor} {level}" for factor, level in scope.items())


def _four(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")


def _judged(rows: Sequence[Row]) -> bool:
    return any(row.get("low") is not None for row in rows)


def _tally(rows: Sequence[Row], what: Column) -> str:
    """The numbers of better, worse and undecided combinations, and the range of the ratios."""
    if _judged(rows):
        names = [name for name, _ in charts.VERDICTS]
        counts = [
            [escape(level), *(str(_count(rows, what, level, name)) for name in names)]
            for level in what.levels
        ]
        return table((what.title, *names), counts, "figures")
    lines = []
    for level in what.levels:
        found = sorted(row["ratio"] for row in rows if row[what.column] == level)
        below = sum(ratio < 1 for ratio in found)
        spread = f"{found[0]:.3g} to {found[-1]:.3g}"
        lines.append([escape(level), f"{below:,} of {len(found):,}", spread])
    return table((what.title, "mean below the baseline's", "ratios"), lines, "figures")


def _count(rows: Sequence[Row], what: Column, level: str, verdict: str) -> int:
    return sum(row[what.column] == level and row["verdict"] == verdict for row in rows)
