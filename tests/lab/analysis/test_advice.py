# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What is added to the advice to switch."""

import pytest

from heapwright.analysis.advice import UNKNOWN, switch_notes, winning
from heapwright.artefacts.comparison.document import Effect, TreatmentInfo
from heapwright.artefacts.run.provenance import Kind
from support.documents import made

GLIBC = TreatmentInfo(allocator="glibc", label="glibc", kind=Kind.SYSTEM)
FAST = TreatmentInfo(allocator="fast", label="fast", kind=Kind.PEER, preload="/lib/fast.so")


def setting(name: str, value: str) -> TreatmentInfo:
    environment = {"MALLOC_ARENA_MAX": value}
    return TreatmentInfo(allocator=name, label=name, kind=Kind.SYSTEM, environment=environment)


def effect(name: str, ratio: float, high: float, response: str = "time") -> Effect:
    return made(
        Effect, allocator=name, response=response, ratio=ratio, low=ratio - 0.05, high=high, runs=9
    )


ONE, TWO = setting("one", "1"), setting("two", "2")
EFFECTS = [effect("fast", 0.78, 0.8), effect("one", 0.91, 0.94), effect("two", 0.95, 0.97)]


def test_the_share_of_the_best_setting_of_glibc_is_reported() -> None:
    assert switch_notes(FAST, [GLIBC, FAST, ONE, TWO], EFFECTS, "time") == (
        "glibc with MALLOC_ARENA_MAX=1 alone: 9 of the 22 % in time, without a new library",
        f"not measured: {UNKNOWN}",
    )


@pytest.mark.parametrize("high", [1.0, 1.1])
def test_a_setting_that_may_gain_nothing_is_no_gain(high: float) -> None:
    effects = [EFFECTS[0], effect("one", 0.95, high)]
    note, _ = switch_notes(FAST, [GLIBC, FAST, ONE], effects, "time")
    assert note == "no setting of glibc alone surely gains in time (1 setting tried)"


def test_settings_that_were_not_compared_are_not_measured() -> None:
    (note,) = switch_notes(FAST, [GLIBC, FAST], EFFECTS, "time")
    assert note == f"not measured: settings of glibc alone (-a default has them), {UNKNOWN}"


def test_a_switch_without_a_library_or_from_another_baseline_says_nothing_of_settings() -> None:
    notes = (f"not measured: {UNKNOWN}",)
    assert switch_notes(ONE, [GLIBC, ONE, TWO], EFFECTS, "time") == notes
    assert switch_notes(FAST, [TWO, FAST], EFFECTS, "time") == notes


def test_the_gain() -> None:
    assert winning(EFFECTS, ("fast", ""), 0.02) == "time"
    assert winning([effect("fast", 0.97, 0.99)], ("fast", ""), 0.02) == "memory"
