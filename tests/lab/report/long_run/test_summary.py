# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A long run on a terminal."""

import io

from rich.console import Console

from heapwright.artefacts.long_run.document import LongRun
from heapwright.artefacts.run.measured import Outcome
from heapwright.report.long_run.summary import TOO_SHORT, print_long_run


def told(run: LongRun) -> str:
    stream = io.StringIO()
    print_long_run(Console(file=stream, width=120), run)
    return stream.getvalue()


def test_growths_the_client_and_notes(long_run: LongRun) -> None:
    text = told(long_run)
    assert "small under glibc; the same load all the time: ok" in text
    assert "0.983 of 2 hours, 60 samples, 6 runs of the client" in text
    assert "held    35.0 MiB  +60.0 MiB [+59.0 MiB, +61.0 MiB]  grows" in text
    assert "growth in an hour, 95% intervals, from 0.25 h on" in text
    assert "answers a second  100            95" in text
    assert "- a note with <i>" in text


def test_a_failed_run_is_reported_with_the_available_figures(long_run: LongRun) -> None:
    bad = {"outcome": Outcome.CRASHED, "detail": "the server ended: killed", "interrupted": True}
    text = told(long_run.model_copy(update=bad))
    assert "crashed: the server ended: killed" in text
    assert "it was interrupted" in text


def test_too_short_for_a_growth(long_run: LongRun) -> None:
    assert TOO_SHORT in told(long_run.model_copy(update={"growths": ()}))
