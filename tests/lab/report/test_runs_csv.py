# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The CSV file: one row a run, stable columns, empty where nothing was measured."""

import csv
from collections.abc import Callable
from io import StringIO

from heapwright.artefacts.comparison.document import Comparison
from heapwright.artefacts.run.measured import Outcome, Run
from heapwright.report.runs_csv import COLUMNS, write_runs


def written(runs: list[Run]) -> list[dict[str, str]]:
    stream = StringIO(newline="")
    write_runs(runs, stream)
    return list(csv.DictReader(StringIO(stream.getvalue(), newline="")))


def test_one_row_a_run_warmups_and_failures_too(
    make_comparison: Callable[..., Comparison],
) -> None:
    comparison = make_comparison()
    rows = written(list(comparison.runs))
    assert len(rows) == len(comparison.runs) == 23
    assert list(rows[0]) == list(COLUMNS)
    first = rows[0]
    assert (first["allocator"], first["block"], first["warmup"]) == ("glibc", "0", "true")
    assert (first["wall_s"], first["outcome"], first["signal"]) == ("2.31", "ok", "")
    assert (rows[-1]["outcome"], rows[-1]["signal"]) == ("crashed", "6")
    assert rows[2]["level"] == "MALLOC_CONF=narenas:1,tcache:false"


def test_counters_follow_by_name_and_stay_empty_where_absent(
    make_run: Callable[..., Run],
) -> None:
    plain = make_run("a", "", 1)
    counted = plain.model_copy(update={"counters": {"instructions": 5e9, "cycles": 0.0}})
    rows = written([plain, counted])
    assert list(rows[0])[len(COLUMNS) :] == ["cycles", "instructions"]
    assert (rows[0]["cycles"], rows[1]["cycles"]) == ("", "0.0")
    assert float(rows[1]["instructions"]) == 5e9


def test_further_responses_follow_the_counters(make_run: Callable[..., Run]) -> None:
    plain = make_run("a", "", 1).model_copy(update={"counters": {"cycles": 1.0}})
    replayed = plain.model_copy(update={"measures": {"free_p99_ns": 120.0}})
    rows = written([plain, replayed])
    assert list(rows[0])[len(COLUMNS) :] == ["cycles", "free_p99_ns"]
    assert (rows[0]["free_p99_ns"], rows[1]["free_p99_ns"]) == ("", "120.0")


def test_details_with_commas_quotes_and_lines_survive(make_run: Callable[..., Run]) -> None:
    detail = 'said "no", then\nended'
    run = make_run("a", "", 1, Outcome.FAILED).model_copy(update={"detail": detail})
    assert written([run])[0]["detail"] == detail


def test_no_run_is_a_heading_alone() -> None:
    stream = StringIO()
    write_runs([], stream)
    assert stream.getvalue() == ",".join(COLUMNS) + "\n"


def test_every_figure_of_a_run_has_a_column() -> None:
    elsewhere = {"counters", "measures", "rss_series", "processes", "replay"}
    assert set(Run.model_fields) - elsewhere == set(COLUMNS)
