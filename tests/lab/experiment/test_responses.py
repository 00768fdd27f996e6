# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Responses are read out of what a run left; what was not measured is left out, never zero."""

from typing import Any

import pytest

from heapwright.artefacts.study.model import Response
from heapwright.experiment.responses import Left, read_responses

FIGURES: dict[str, Any] = {
    "wall_s": 2.0,
    "user_s": 1.0,
    "sys_s": 0.5,
    "peak_rss_bytes": 4096,
    "minor_faults": 7,
    "major_faults": None,
    "voluntary_switches": 3,
    "involuntary_switches": 4,
    "counters": {"instructions": 99.0},
    "rss_series": [(0.01, 4096), (0.02, 8192), (0.03, 0)],
}


def read(origin: str, left: Left | None = None, **how: str) -> float | None:
    model = Response.model_validate({"from": origin, **how})
    return read_responses({"it": model}, left or Left(FIGURES)).get("it")


@pytest.mark.parametrize(
    ("origin", "value"),
    [
        ("wall", 2.0),
        ("user", 1.0),
        ("sys", 0.5),
        ("cpu", 1.5),
        ("peak_rss", 4096),
        ("idle_rss", 8192),
        ("minor_faults", 7),
        ("major_faults", None),
        ("voluntary_switches", 3),
        ("involuntary_switches", 4),
        ("counter", 99),
    ],
)
def test_figures_of_the_runner(origin: str, value: float | None) -> None:
    assert read(origin) == value


def test_a_counter_that_is_not_there_is_absent() -> None:
    assert read("counter", event="cycles") is None


def test_a_run_too_short_to_be_looked_at_has_no_idle_memory() -> None:
    assert read("idle_rss", Left({**FIGURES, "rss_series": []})) is None


def test_each_response_reads_its_own_stream() -> None:
    left = Left(FIGURES, stdout="v 1", stderr="v 2", report="v 3")
    pattern = r"v (?P<value>\d)"
    assert read("output", left, pattern=pattern) == 1
    assert read("output", left, pattern=pattern, stream="stderr") == 2
    assert read("measure", left, pattern=pattern) == 3
    unreported = Left(FIGURES, stdout="v 1")
    assert read("measure", unreported, pattern=pattern) == 1


def test_an_unreadable_value_names_the_response() -> None:
    with pytest.raises(ValueError, match="it: nothing that it printed fits"):
        read("output", pattern="(?P<value>x)")


def test_simulated_counts_add_up() -> None:
    left = Left(FIGURES, counts={"cachegrind": {"Ir": 100.0, "D1mr": 3.0, "D1mw": 4.0}})
    assert read("cachegrind", left) == 100
    assert read("cachegrind", left, event="D1mr + D1mw") == 7
    with pytest.raises(ValueError, match="valgrind counts no Bogus; it counts Ir, D1mr, D1mw"):
        read("cachegrind", left, event="Bogus")
