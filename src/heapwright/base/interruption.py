# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Signals are handled for a while, and as before afterwards.

A request to end is handled as Ctrl-C is: no half file is left, and measured runs are kept.

Python calls a handler between two of its instructions. A signal that comes just before a system
call does not interrupt that call, so the handler waits until the call returns. The waits below have
no such gap.
"""

import os
import select
import signal
import subprocess
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


def until_readable(descriptor: int) -> None:
    """Wait until the descriptor has data or its other end is closed.

    A signal calls its handler at once, even if it comes just before the wait. A handler may raise.
    """
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    if threading.current_thread() is not threading.main_thread():
        poll.poll()
        return
    reading, writing = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    previous = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    try:
        poll.register(reading, select.POLLIN)
        while all(ready != descriptor for ready, _ in poll.poll()):
            os.read(reading, select.PIPE_BUF)
    finally:
        signal.set_wakeup_fd(previous)
        os.close(reading)
        os.close(writing)


def read_to_end(descriptor: int) -> bytes:
    """Everything until the other end of the pipe is closed. Signals call their handlers at once."""
    text = bytearray()
    while True:
        until_readable(descriptor)
        piece = os.read(descriptor, 1 << 20)
        if not piece:
            return bytes(text)
        text += piece


def await_end(process: subprocess.Popen[bytes]) -> int:
    """The status of the process, once it has ended. Signals call their handlers at once."""
    handle = os.pidfd_open(process.pid)
    try:
        until_readable(handle)
    finally:
        os.close(handle)
    return process.wait()
