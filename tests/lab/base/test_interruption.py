# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Handlers of signals: while they stand, and what is there afterwards."""

import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType

import pytest

from heapwright.base.interruption import ended_as_interrupted, handled

NUMBER = signal.SIGHUP


@pytest.fixture(autouse=True)
def _kept() -> Iterator[None]:
    before = signal.getsignal(NUMBER)
    yield
    signal.signal(NUMBER, before)


def others(number: int, frame: FrameType | None) -> None:
    pytest.fail(f"signal {number} came to the handler of before, at {frame}")


def test_a_handler_stands_for_a_while() -> None:
    signal.signal(NUMBER, others)
    came: list[int] = []
    with handled({NUMBER: lambda number, _: came.append(number)}):
        os.kill(os.getpid(), NUMBER)
    assert came == [NUMBER]
    assert signal.getsignal(NUMBER) is others


def test_the_handler_of_before_is_back_after_an_error() -> None:
    signal.signal(NUMBER, others)
    with pytest.raises(KeyboardInterrupt), ended_as_interrupted():
        os.kill(os.getpid(), NUMBER)
    assert signal.getsignal(NUMBER) is others


def test_an_ignored_signal_stays_ignored() -> None:
    signal.signal(NUMBER, signal.SIG_IGN)
    with handled({NUMBER: others}):
        os.kill(os.getpid(), NUMBER)
        assert signal.getsignal(NUMBER) is signal.SIG_IGN


def test_another_thread_changes_nothing() -> None:
    signal.signal(NUMBER, others)
    seen: list[object] = []

    def elsewhere() -> None:
        with ended_as_interrupted():
            seen.append(signal.getsignal(NUMBER))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert seen == [others]
