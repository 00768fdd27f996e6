# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Handlers of signals: while they stand, and what is there afterwards."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest

from heapwright.base.interruption import ended_as_interrupted, handled, read_to_end

NUMBER = signal.SIGHUP


@pytest.fixture(autouse=True)
def _kept() -> Iterator[None]:
    before = signal.getsignal(NUMBER)
    yield
    signal.signal(NUMBER, before)


def others(number: int, frame: FrameType | None) -> None:
    pytest.fail(f"signal {number} came to the handler of before, at {frame}")


def test_a_handler_is_in_force_inside_the_block() -> None:
    signal.signal(NUMBER, others)
    came: list[int] = []
    with handled({NUMBER: lambda number, _: came.append(number)}):
        os.kill(os.getpid(), NUMBER)
    assert came == [NUMBER]
    assert signal.getsignal(NUMBER) is others


def test_the_previous_handler_returns_after_an_error() -> None:
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


def test_a_signal_that_does_not_interrupt_the_wait_calls_its_handler() -> None:
    """Another thread takes the signal, so the wait of the main thread is not interrupted. The same
    happens if a signal comes just before the wait."""
    reading, writing = os.pipe()
    open_end = [writing]
    handled_in_time: list[bool] = []
    main = Path(f"/proc/self/task/{threading.get_native_id()}/stat")

    def close(*_: object) -> None:
        handled_in_time.append(True)
        os.close(open_end.pop())

    def take_the_signal() -> None:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {NUMBER})
        while main.read_text().rpartition(")")[2].split()[0] != "S":
            time.sleep(0.001)
        os.kill(os.getpid(), NUMBER)
        end = time.monotonic() + 30.0
        while open_end and time.monotonic() < end:
            time.sleep(0.001)
        if open_end:
            os.close(open_end.pop())

    thread = threading.Thread(target=take_the_signal)
    signal.pthread_sigmask(signal.SIG_BLOCK, {NUMBER})
    try:
        with handled({NUMBER: close}):
            thread.start()
            assert read_to_end(reading) == b""
            assert handled_in_time, "the handler waited for the end of the wait"
        thread.join()
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {NUMBER})
        os.close(reading)
