# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Every good run of a study inside of its page: choose the levels, see the runs.

Values are kept in two bytes each, as one of 65,534 steps on the scale of their response. For values
that span a factor of a million, a step is 0.02 %. Runs are sorted by treatment, in the order of
their blocks. Beyond `MOST_VALUES` every n-th block is kept, with a note.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from html import escape
from pathlib import Path

import numpy as np

from heapwright.base.polars_package import pl
from heapwright.report.pages.frame import embedded
from heapwright.report.study.axes import Column
from heapwright.report.study.view import Response, StudyView

SCRIPT = Path(__file__).with_name("every_run.js").read_text(encoding="utf-8")
STEPS = 65534
MOST_VALUES = 400_000


def every_run(view: StudyView, what: Column, others: Sequence[Column]) -> str:
    """The place, its choices and the values."""
    responses = view.responses
    runs, step = _kept(view.good, len(responses))
    ordered = _by_treatment(view, runs, [what, *others])
    data = {
        "what": what.name,
        "levels": what.levels,
        "others": [{"name": each.name, "levels": each.levels} for each in others],
        **ordered,
        "responses": [_values(each, runs, ordered["treatments"]) for each in responses],
    }
    choices = [
        _choice("response", [each.words for each in responses], "response"),
        *(_choice(each.name, each.levels, f"other-{at}") for at, each in enumerate(others)),
    ]
    kept = "Every run" if step == 1 else f"Every run of each {step}th block"
    return (
        '<div class="every"><h3>Any treatment</h3>'
        f"<p>{kept} that ended well is on this page. Choose the levels.</p>"
        f'<div class="chooser">{"".join(choices)}</div>'
        '<canvas aria-label="The runs of the chosen treatments, a tick a run"></canvas>'
        '<output aria-live="polite"></output>'
        f'<script type="application/json">{embedded(data)}</script></div>'
    )


def _choice(name: str, levels: Sequence[str], key: str) -> str:
    options = "".join(
        f'<option value="{at}">{escape(level)}</option>' for at, level in enumerate(levels)
    )
    return f'<label>{escape(name)} <select data-choice="{key}">{options}</select></label>'


def _kept(good: pl.DataFrame, responses: int) -> tuple[pl.DataFrame, int]:
    """Of too many blocks each n-th, and n."""
    step = max(1, -(-good.height * responses // MOST_VALUES))
    if step == 1:
        return good, 1
    blocks = good["block"].unique().sort()[::step]
    return good.filter(pl.col("block").is_in(blocks.implode())), step


def _by_treatment(
    view: StudyView, runs: pl.DataFrame, factors: Sequence[Column]
) -> dict[str, list[str] | list[list[int]]]:
    """The treatments that have runs, and the place of each one's level of each factor."""
    present = set(runs["treatment"].unique())
    cells = [cell for cell in view.design.treatments if cell.id in present]
    places = [{level: at for at, level in enumerate(each.levels)} for each in factors]
    return {
        "treatments": [cell.id for cell in cells],
        "at": [
            [
                place.get(cell.levels.get(each.name, ""), -1)
                for each, place in zip(factors, places, strict=True)
            ]
            for cell in cells
        ],
    }


def _values(response: Response, runs: pl.DataFrame, order: object) -> dict[str, object]:
    """The values of a response, treatment by treatment, and how many each has."""
    mine = runs.drop_nulls(response.name).filter(pl.col(response.name).is_finite())
    places = pl.DataFrame({"treatment": order}).with_row_index("place")
    joined = mine.join(places, on="treatment").sort("place", "block")
    counts = joined.group_by("place").len()
    lengths = dict(zip(counts["place"], counts["len"], strict=True))
    values = joined[response.name].to_numpy() / response.unit.size
    logarithmic = response.logarithmic and bool((values > 0).all())
    scaled = np.log(values) if logarithmic else values
    low, high = (float(scaled.min()), float(scaled.max())) if len(scaled) else (0.0, 1.0)
    span = (high - low) or 1.0
    steps = np.rint((scaled - low) / span * STEPS).astype("<u2")
    assert math.isfinite(low + high)
    return {
        "name": response.name,
        "title": response.title,
        "logarithmic": logarithmic,
        "low": low,
        "span": span,
        "counts": [lengths.get(at, 0) for at in range(places.height)],
        "values": base64.b64encode(steps.tobytes()).decode("ascii"),
    }
