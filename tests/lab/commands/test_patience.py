# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A slow step is reported, and a fast one is not."""

import time

import pytest

from heapwright.commands import patience
from heapwright.commands.patience import telling_steps

PATIENCE_S = 60.0


def told(capfd: pytest.CaptureFixture[str], wanted: str) -> str:
    """All of standard error, once the words are in it."""
    text, end = "", time.monotonic() + PATIENCE_S
    while wanted not in text:
        assert time.monotonic() < end, text
        time.sleep(0.005)
        text += capfd.readouterr().err
    return text


def test_a_slow_step_is_told_once(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(patience, "LATE_S", 0.0)
    with telling_steps() as tell:
        tell("reading [1] runs")
        text = told(capfd, "reading")
        tell("reading [1] runs")
        tell("drawing")
        text += told(capfd, "drawing")
    assert text == "heapwright: reading [1] runs …\nheapwright: drawing …\n"


@pytest.mark.parametrize("quiet", [False, True])
def test_a_quick_step_is_not(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *, quiet: bool
) -> None:
    monkeypatch.setattr(patience, "LATE_S", 0.0 if quiet else PATIENCE_S)
    with telling_steps(quiet=quiet) as tell:
        tell("reading")
        tell("drawing")
    assert capfd.readouterr().err == ""
