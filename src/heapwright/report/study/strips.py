# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Every run as a point, beside the means.

A strip has a tick for each run of a treatment. A few combinations of the other factors are all
drawn. Of many, some are drawn, from the smallest to the largest mean. The reader can choose all
others below, because the page has every run.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from heapwright.base.polars_package import pl
from heapwright.report.pages.parts import Spec
from heapwright.report.study import charts
from heapwright.report.study.axes import Column, Row, evenly, measure
from heapwright.report.study.every_run import every_run
from heapwright.report.study.figures import Figures
from heapwright.report.study.view import Response, StudyView

MOST_CELLS = 6
MOST_TICKS = 200
"""Runs of a strip that are drawn."""
Levels = tuple[str, ...]


def strips(view: StudyView, figures: Figures) -> str:
    """Strips for each response, and the place to look at any treatment."""
    what = view.allocators or next(iter(view.columns.values()), None)
    if what is None or view.good.is_empty():
        return ""
    others = [each for each in view.columns.values() if each.name != what.name]
    others = [each for each in others if len(each.levels) > 1]
    parts = [part for each in view.responses if (part := _of_response(each, what, others, figures))]
    return "\n".join((*parts, every_run(view, what, others))) if parts else ""


def _of_response(
    response: Response, what: Column, others: Sequence[Column], figures: Figures
) -> str:
    names = [each.name for each in others]
    good = response.view.good.drop_nulls(response.name)
    cells = chosen(good, names, response.name)
    total = good.select(names).unique().height if names else 1
    specs: dict[str, Spec] = {}
    rows: list[Row] = []
    for cell in cells:
        mine = good
        for name, level in zip(names, cell, strict=True):
            mine = mine.filter(pl.col(name) == level)
        where = ", ".join(f"{name} {level}" for name, level in zip(names, cell, strict=True))
        ticks = _ticks(response, mine, what)
        x = measure(
            response.title, [row["value"] for row in ticks], logarithmic=response.logarithmic
        )
        specs[where or "all runs"] = charts.strips(ticks, what, x)
        levels = {each.column: level for each, level in zip(others, cell, strict=True)}
        rows += [{**levels, **row} for row in ticks]
    if not rows:
        return ""
    return (
        f"<h3>{escape(response.words)}</h3><p>{_about(good, len(cells), total, len(rows))}</p>"
        + figures.grid(f"{response.name}/runs", specs, specs, f"{response.words}, run by run", rows)
    )


def _about(good: pl.DataFrame, shown: int, total: int, ticks: int) -> str:
    if shown == total and ticks == good.height:
        return f"A tick is a run; all {ticks:,} are drawn."
    if shown == total:
        return f"A tick is a run; {ticks:,} of {good.height:,} are drawn, evenly by size."
    return (
        f"A tick is a run. Of {total:,} combinations of the other factors {shown} are drawn, from "
        f"the smallest mean to the largest: {ticks:,} of {good.height:,} runs."
    )


def chosen(good: pl.DataFrame, names: Sequence[str], response: str) -> list[Levels]:
    """Combinations of levels, evenly from the smallest mean to the largest."""
    if not names:
        return [()]
    means = good.group_by(names, maintain_order=True).agg(pl.col(response).mean())
    if means.height > MOST_CELLS:
        means = means.sort(response, *names)[evenly(means.height, MOST_CELLS)]
    return [tuple(row) for row in means.select(names).iter_rows()]


def _ticks(response: Response, mine: pl.DataFrame, what: Column) -> list[Row]:
    rows: list[Row] = []
    for level in what.levels:
        runs = mine.filter(pl.col(what.name) == level).sort(response.name)
        runs = runs[evenly(runs.height, MOST_TICKS)]
        rows += [
            {what.column: level, "block": block, "value": response.unit.drawn(value)}
            for block, value in runs.select("block", response.name).iter_rows()
        ]
    return rows
