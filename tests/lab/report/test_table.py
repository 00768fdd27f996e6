# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Rows and legend: order, marks, remarks, and figures that are not there."""

from collections.abc import Callable

import pytest

from heapwright.artefacts.comparison.document import Comparison, Effect
from heapwright.artefacts.run.measured import Outcome, Run
from heapwright.report.table import legend, ratio_text, reference, seconds_text, table_rows

MakeComparison = Callable[..., Comparison]


def test_ranked_by_time_with_the_failed_last(make_comparison: MakeComparison) -> None:
    rows = table_rows(make_comparison())
    assert [row.label.split()[0] for row in rows] == [
        "mimalloc",
        "jemalloc",
        "jemalloc",
        "glibc",
        "huge",
        "broken",
    ]
    assert rows[3].label == "glibc (baseline)"
    assert (rows[3].time, rows[3].memory) == ("1", "1")
    assert (rows[-1].remarks, rows[-1].letters) == ("1 ok, 2 crashed", "")
    assert [row.front for row in rows] == ["*", "", "", "", "", ""]
    assert [row.style for row in rows] == ["bold green", "", "", "", "", "red"]


def test_a_failed_baseline_is_listed_last_too(
    make_comparison: MakeComparison, make_run: Callable[..., Run]
) -> None:
    runs = (*make_comparison().runs, make_run("glibc", "", 4, Outcome.TIMEOUT))
    rows = table_rows(make_comparison(runs=runs))
    assert [row.label for row in rows if row.failed] == ["glibc (baseline)", "broken"]
    assert rows[-2].remarks == "3 ok, 1 timeout"


def test_without_runs_there_are_no_figures(make_comparison: MakeComparison) -> None:
    (row, *_) = table_rows(make_comparison(runs=(), effects=()))
    assert (row.time, row.memory, row.remarks) == ("-", "-", "no run")


def test_allocators_over_the_cap_are_marked(make_comparison: MakeComparison) -> None:
    design = make_comparison().design.model_copy(update={"cap_bytes": 400 << 20})
    rows = table_rows(make_comparison(design=design))
    assert rows[0].remarks == "over the cap"
    assert rows[-1].remarks == "1 ok, 2 crashed, over the cap"


def effect(ratio: float, low: float | None, high: float | None) -> Effect:
    return Effect(
        allocator="x", response="time", ratio=ratio, low=low, high=high, group="a", runs=1
    )


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (effect(0.9211, 0.9, 0.94), "0.921 (0.900 to 0.940)"),
        (effect(12.34, 11.9, 12.8), "12.3 (11.9 to 12.8)"),
        (effect(9.5, 8.9, 10.2), "9.5 (8.9 to 10.2)"),
        (effect(0.9, None, None), "0.900 (no interval)"),
        (None, "-"),
    ],
)
def test_ratios(found: Effect | None, text: str) -> None:
    assert ratio_text(found) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (123.4, "123 s"),
        (48.26, "48.3 s"),
        (2.31, "2.31 s"),
        (0.0482, "48.2 ms"),
        (0.0012, "1.20 ms"),
    ],
)
def test_seconds(seconds: float, text: str) -> None:
    assert seconds_text(seconds) == text


def test_the_legend_omits_intervals_that_do_not_exist(make_comparison: MakeComparison) -> None:
    responses = tuple(
        summary.model_copy(update={"method": "none", "blocks": 1, "baseline_value": None})
        for summary in make_comparison().responses
    )
    comparison = make_comparison(responses=responses, pareto=())
    text = "\n".join(legend(comparison))
    assert reference(comparison) == "Baseline glibc has no good run."
    assert "too few blocks" in text
    assert "95 %" not in text
    assert "Pareto" not in text
