# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A request to end is handled as Ctrl-C is: no half file is left, and measured runs are kept."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

ENDING = (signal.SIGTERM, signal.SIGHUP)
"""The request to end, and a terminal that closes."""


@contextmanager
def ended_as_interrupted() -> Iterator[None]:
    """In the meantime, both signals raise KeyboardInterrupt.

    A signal that is ignored, as under nohup, stays ignored. Only the main thread may set handlers;
    in another thread nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = {
        number: signal.signal(number, signal.default_int_handler)
        for number in ENDING
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
