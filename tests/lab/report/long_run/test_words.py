# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The words of a long run."""

from heapwright.artefacts.long_run.document import Load, LongRun
from heapwright.report.long_run.words import drift, load_of, signed


def test_amounts_have_signs() -> None:
    assert signed(2048.0) == "+2.0 KiB"
    assert signed(-2048.0) == "-2.0 KiB"
    assert signed(0.0) == "+0 B"


def test_a_load_that_changes(long_run: LongRun) -> None:
    load = Load(hours=1.0, rest_s=2.0, vary="bytes", values=("1", "2"))
    plan = long_run.plan.model_copy(update={"load": load})
    changed = long_run.model_copy(update={"plan": plan})
    assert load_of(changed) == (
        "small under glibc; bytes in turn 1, 2; a rest of 2 s after each run of the client"
    )
    assert list(drift(changed)) == [], "its figures are not of one load"


def test_few_runs_of_the_client_do_not_drift(long_run: LongRun) -> None:
    assert list(drift(long_run)) == [("answers a second", "100", "95")]
    assert list(drift(long_run.model_copy(update={"rounds": long_run.rounds[:3]}))) == []
