# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The engine makes one run after the other, and no end of it loses a finished run."""

from collections.abc import Iterator

import pytest

from heapwright.base.errors import HeapwrightError
from heapwright.experiment.engine import StopError, conduct


def test_a_schedule_sees_what_happened_before_it_says_what_is_next() -> None:
    told: list[int] = []

    def schedule() -> Iterator[int]:
        for number in range(10):
            if sum(told) < 60:
                yield number

    ending = conduct(schedule(), lambda number: number * 10, over=lambda _, run: told.append(run))
    assert told == [0, 10, 20, 30]
    assert (ending.runs, ending.stopped_because, ending.interrupted) == (4, "", False)


def test_the_callback_of_a_run_can_stop_the_experiment() -> None:
    def over(number: int, _run: str) -> None:
        if number == 2:
            raise StopError("enough")

    ending = conduct(range(9), str, over=over)
    assert (ending.runs, ending.stopped_because) == (3, "enough")


@pytest.mark.parametrize("error", [KeyboardInterrupt(), HeapwrightError("a hook failed")])
def test_an_end_in_the_middle_of_a_run_keeps_the_finished_runs(error: BaseException) -> None:
    told: list[int] = []

    def execute(number: int) -> int:
        if number == 3:
            raise error
        return number

    ending = conduct(range(9), execute, over=lambda number, _: told.append(number))
    assert told == [0, 1, 2]
    assert ending.interrupted == isinstance(error, KeyboardInterrupt)
    assert ending.failure is (error if isinstance(error, HeapwrightError) else None)


def test_an_error_of_the_very_first_run_is_raised() -> None:
    def execute(_: int) -> int:
        raise HeapwrightError("nothing works")

    with pytest.raises(HeapwrightError, match="nothing works"):
        conduct(range(2), execute, over=lambda *_: None)
