# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A slow step is reported, and a fast one is not."""

import time

import pytest

from heapwright.commands import slow_steps
from heapwright.commands.slow_steps import reporting_steps

LIMIT_S = 60.0


def stderr_with(capfd: pytest.CaptureFixture[str], wanted: str) -> str:
    """All of standard error, once the words are in it."""
    text, end = "", time.monotonic() + LIMIT_S
    while wanted not in text:
        assert time.monotonic() < end, text
        time.sleep(0.005)
        text += capfd.readouterr().err
    return text


def test_a_slow_step_is_reported_once(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(slow_steps, "LATE_S", 0.0)
    with reporting_steps() as tell:
        tell("reading [1] runs")
        text = stderr_with(capfd, "reading")
        tell("reading [1] runs")
        tell("drawing")
        text += stderr_with(capfd, "drawing")
    assert text == "heapwright: reading [1] runs …\nheapwright: drawing …\n"


@pytest.mark.parametrize("quiet", [False, True])
def test_a_quick_step_is_not(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *, quiet: bool
) -> None:
    monkeypatch.setattr(slow_steps, "LATE_S", 0.0 if quiet else LIMIT_S)
    with reporting_steps(quiet=quiet) as tell:
        tell("reading")
        tell("drawing")
    assert capfd.readouterr().err == ""
