# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Signals are handled for a while, and as before afterwards.

A request to end is handled as Ctrl-C is: no half file is left, and measured runs are kept.
"""

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType

ENDING = (signal.SIGTERM, signal.SIGHUP)
"""The request to end, and a terminal that closes."""

Handler = Callable[[int, FrameType | None], object]


@contextmanager
def handled(handlers: Mapping[signal.Signals, Handler]) -> Iterator[None]:
    """In the meantime, each of these signals calls its handler.

    A signal that is ignored, as under nohup, stays ignored. Only the main thread may set handlers;
    in another thread nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = {
        number: signal.signal(number, handler)
        for number, handler in handlers.items()
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


@contextmanager
def ended_as_interrupted() -> Iterator[None]:
    """In the meantime, a request to end raises KeyboardInterrupt."""
    with handled(dict.fromkeys(ENDING, signal.default_int_handler)):
        yield
