# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Memory over time: one real run an allocator, in a few combinations of the other factors.

A mean of curves is no curve that any run had, so none is drawn. Of each treatment the run whose
memory (or time, where memory was not measured) is the middle one is taken. Of many combinations
two are shown: the one that takes longest, which has most samples, and the one in which the
allocators' memory differs most.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.study_results.runs import StudyRun
from heapwright.base.polars_package import pl
from heapwright.report.pages.parts import Spec, beside, key
from heapwright.report.profile.words import unit_for
from heapwright.report.study import charts
from heapwright.report.study.axes import Column, Row, measure
from heapwright.report.study.figures import Figures
from heapwright.report.study.units import BYTES
from heapwright.report.study.view import Response, RunKey, StudyView

MOST_CELLS = 2
Levels = tuple[str, ...]


def wanted(view: StudyView) -> set[RunKey]:
    """The runs whose curves the page shows: those that have to be read whole."""
    response = _by(view)
    if response is None:
        return set()
    keys = set()
    for cell in _cells(view, response):
        mine = _of_cell(view, view.good, cell).drop_nulls(response.name)
        for _, runs in mine.group_by("treatment", maintain_order=True):
            middle = runs.sort(response.name, "block")[(len(runs) - 1) // 2]
            keys.add((middle["block"][0], middle["treatment"][0]))
    return keys


def _by(view: StudyView) -> Response | None:
    """Memory where it was measured, else what there is."""
    memory = [each for each in view.responses if each.analysis.unit in BYTES]
    return next(iter(memory or view.responses), None)


def _cells(view: StudyView, response: Response) -> list[Levels]:
    """Levels of the other factors, few of them."""
    names = [each.name for each in view.others]
    found: dict[Levels, list[float]] = {}
    for each in response.analysis.cells:
        found.setdefault(tuple(each.levels[name] for name in names), []).append(each.mean)
    if len(found) <= MOST_CELLS:
        return list(found)
    timed = next((each for each in view.responses if each.analysis.unit == "s"), response)
    longest = max(timed.analysis.cells, key=lambda each: each.mean)
    first = tuple(longest.levels[name] for name in names)
    apart = {cell: max(means) / min(means) for cell, means in found.items() if min(means) > 0}
    rest = sorted((cell for cell in apart if cell != first), key=lambda cell: -apart[cell])
    return [first, *rest[: MOST_CELLS - 1]]


def _of_cell(view: StudyView, frame: pl.DataFrame, cell: Levels) -> pl.DataFrame:
    for column, level in zip(view.others, cell, strict=True):
        frame = frame.filter(pl.col(column.name) == level)
    return frame


def over_time(view: StudyView, figures: Figures) -> str:
    """The curves of the runs that were read whole."""
    response = _by(view)
    if response is None:
        return ""
    what = view.allocators or _single(view)
    parts = []
    for number, cell in enumerate(_cells(view, response), start=1):
        curves = _curves(view, cell, what)
        if curves:
            where = ", ".join(
                f"{column.name} {level}" for column, level in zip(view.others, cell, strict=True)
            )
            parts.append(_chart(f"memory/over-time-{number}", where, curves, what, figures))
    if not parts:
        return "<p>No run lasted long enough for its memory to be sampled.</p>"
    middle = "memory" if response.analysis.unit in BYTES else response.name
    about = (
        f"<p>Resident memory of all processes of one run of each {escape(what.name)}: the run "
        f"whose {escape(middle)} is the middle one of its treatment.{_chosen(view, response)}</p>"
    )
    return about + key(what.key) + beside(*parts)


def _curves(view: StudyView, cell: Levels, what: Column) -> dict[str, StudyRun]:
    """The runs of a combination that have a curve, by the level of `what`."""
    levels = {each.id: each.levels.get(what.name, "") for each in view.design.treatments}
    mine = set(_of_cell(view, view.good, cell)["treatment"])
    found = {
        levels[treatment]: run
        for (_, treatment), run in view.runs.items()
        if treatment in mine and run.outcome == Outcome.OK and run.rss_series
    }
    return {level: found[level] for level in what.levels if level in found}


def _chosen(view: StudyView, response: Response) -> str:
    total = len(
        {tuple(each.levels[c.name] for c in view.others) for each in response.analysis.cells}
    )
    if total <= MOST_CELLS:
        return ""
    return (
        f" Of {total:,} combinations of the other factors these are the one that takes longest, "
        "and the one in which the allocators differ most."
    )


def _single(view: StudyView) -> Column:
    """Where no factor chooses the allocator, the curves have the first factor's colours."""
    return next(iter(view.columns.values()))


def _chart(
    name: str, where: str, curves: Mapping[str, StudyRun], what: Column, figures: Figures
) -> str:
    """The curves of some levels of `what`, by these."""
    size, unit = unit_for(max(value for run in curves.values() for _, value in run.rss_series))
    rows: list[Row] = [
        {
            what.column: level,
            "block": run.block,
            "seconds": float(f"{seconds:.5g}"),
            "memory": float(f"{value / size:.5g}"),
        }
        for level, run in curves.items()
        for seconds, value in run.rss_series
    ]
    label = f"Memory over time{f': {where}' if where else ''}"
    heading = f"<h4>{escape(where)}</h4>" if where else ""
    return heading + figures.single(name, _spec(rows, what, unit), label, rows)


def _spec(rows: Sequence[Row], what: Column, unit: str) -> Spec:
    x = measure("seconds", [0.0, *(row["seconds"] for row in rows)], logarithmic=False, zero=True)
    y = measure(
        f"resident ({unit})", [0.0, *(row["memory"] for row in rows)], logarithmic=False, zero=True
    )
    return charts.curves(rows, what, x, y)
