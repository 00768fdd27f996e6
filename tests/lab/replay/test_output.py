# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What a replay says becomes the figures of a run; what it does not say is not made up."""

import json
from typing import Any

import pytest

from heapwright.artefacts.run.replay import ReplayFigures, Touch
from heapwright.replay.output import figures_of, reader_of


def times(calls: int) -> dict[str, Any]:
    quantiles = {f"{name}_ns": 5.0 for name in ("p50", "p90", "p99", "p99_9", "p99_99", "max")}
    return {"calls": calls, "mean_ns": 4.0, **quantiles, "histogram": [[5.0, calls]]}


def line(**others: Any) -> str:
    document = {
        "calls": 1000,
        "calls_s": 1e-5,
        "seconds": 2e-5,
        "user_s": 1.5e-5,
        "sys_s": 0.0,
        "own_bytes": 4096,
        "peak_bytes": 3 << 20,
        "peak_heap_bytes": 2 << 20,
        "ideal_bytes": 1 << 20,
        "routines": {"malloc": times(600), "free": times(395), "calloc": times(5)},
        "something new": 1,
        **others,
    }
    return json.dumps(document) + "\n"


def test_time_and_memory_are_those_of_the_calls() -> None:
    figures = figures_of(line())
    assert figures["wall_s"] == 2e-5
    assert figures["user_s"] == 1.5e-5
    assert figures["peak_rss_bytes"] == 3 << 20
    assert ReplayFigures.model_validate(figures["replay"]).a_over_u == 2.0


def test_the_times_of_the_whole_process_are_left_as_they_are() -> None:
    figures = figures_of(line(), whole=True)
    assert not figures.keys() & {"wall_s", "user_s", "sys_s"}
    assert figures["peak_rss_bytes"] == 3 << 20


def test_latencies_of_routines_that_are_called_often_are_compared() -> None:
    measures = figures_of(line())["measures"]
    assert isinstance(measures, dict)
    assert measures["a_over_u"] == 2.0
    assert measures["call_ns"] == pytest.approx(10.0)
    assert measures["malloc.p99_99_ns"] == 5.0
    assert measures["free.max_ns"] == 5.0
    assert not [name for name in measures if name.startswith("calloc")]  # one in 200


def test_of_a_checked_replay_nothing_further_is_compared() -> None:
    assert figures_of(line(checked=True, routines={}))["measures"] == {}


def test_a_trace_that_asks_for_nothing_has_no_ratio() -> None:
    measures = figures_of(line(ideal_bytes=0))["measures"]
    assert isinstance(measures, dict)
    assert "a_over_u" not in measures


@pytest.mark.parametrize("text", ["", "\n", "not json", "{}", '{"seconds": 1}'])
def test_an_invalid_line_is_refused_with_its_reason(text: str) -> None:
    with pytest.raises(ValueError, match="no line that can be read"):
        figures_of(text)


@pytest.mark.parametrize("touch", ["none", "first-byte"])
def test_memory_that_was_not_written_has_no_peak(touch: Touch) -> None:
    figures = reader_of(touch)(line())
    assert figures["peak_rss_bytes"] is None
    measures = figures["measures"]
    assert isinstance(measures, dict)
    assert "a_over_u" not in measures
    assert measures["call_ns"] == pytest.approx(10.0), "times are compared all the same"


@pytest.mark.parametrize("touch", ["as-recorded-size", "all"])
def test_memory_that_was_written_has_one(touch: Touch) -> None:
    assert reader_of(touch)(line())["peak_rss_bytes"] == 3 << 20
