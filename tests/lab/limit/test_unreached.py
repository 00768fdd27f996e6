# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Figures may be too small if processes with processor time were not counted."""

import pytest

from heapwright.artefacts.run.coverage import Cause, Coverage, CoveredProcess
from heapwright.limit.unreached import unreached

WAS = "was not counted"


def process(pid: int, cpu_s: float, cause: Cause | None = None, name: str = "st") -> CoveredProcess:
    return CoveredProcess(
        pid=pid,
        parent_pid=1,
        executable=f"/bin/{name}",
        cpu_s=cpu_s,
        recorded=cause is None,
        cause=cause,
    )


def coverage(*processes: CoveredProcess, unclaimed: float = 0.0) -> Coverage:
    total = sum(each.cpu_s for each in processes) + unclaimed
    return Coverage(cpu_s=total, unclaimed_cpu_s=unclaimed, processes=processes)


@pytest.mark.parametrize(("cpu_s", "matters"), [(0.0099, False), (0.0102, True)])
def test_a_static_process_matters_from_one_percent_on(cpu_s: float, matters: bool) -> None:
    found = unreached(coverage(process(2, 1.0), process(3, cpu_s, Cause.STATIC)), None, WAS)
    assert found == ("st is statically linked, so it was not counted" if matters else "")


def test_children_that_are_not_judged_do_not_matter() -> None:
    found = coverage(process(2, 0.1), process(3, 0.9, Cause.STATIC))
    assert unreached(found, 2, WAS) == ""
    assert unreached(found, 3, WAS) != ""
    assert (
        unreached(coverage(process(2, 0.1), process(3, 0.9, Cause.NOT_FOLLOWED)), None, WAS) == ""
    )


def test_processes_that_end_before_they_load_a_library_matter_from_a_least_time_on() -> None:
    short = coverage(process(2, 0.1), process(3, 0.01, Cause.NOT_LOADED))
    assert unreached(short, None, WAS) == ""
    long = coverage(process(2, 0.1), process(3, 0.03, Cause.NOT_LOADED))
    assert unreached(long, None, WAS) == "st did not load the recorder, so it was not counted"
    unseen = coverage(process(2, 0.1), unclaimed=0.03)
    assert unreached(unseen, None, WAS) == "processes that were not seen used processor time"
    assert unreached(unseen, 2, WAS) == unreached(None, None, WAS) == ""


def test_the_sentence_names_few_processes() -> None:
    static = [process(number, 1.0, Cause.STATIC, f"p{number}") for number in range(5)]
    assert unreached(coverage(*static), None, WAS).endswith("it was not counted; 2 more processes")
