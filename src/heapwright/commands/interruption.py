# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""While something is measured: who asks for the end wants what there is so far, and where it is."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from heapwright.artefacts.run.journal import Journal
from heapwright.base.errors import HeapwrightError


@contextmanager
def ended_as_interrupted() -> Iterator[None]:
    """A request to end or a terminal that closes is as good as Ctrl-C: what is measured is kept.

    What is to be ignored, as under nohup, still is.
    """
    previous = {
        number: signal.signal(number, signal.default_int_handler)
        for number in (signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


@contextmanager
def telling_of(journal: Journal) -> Iterator[None]:
    """When the analysis is broken off, or fails by a defect of ours, say where the runs are."""
    try:
        yield
    except (HeapwrightError, BrokenPipeError):
        raise
    except BaseException:
        if journal.path is not None:
            print(f"heapwright: raw runs: {journal.path}", file=sys.stderr)  # noqa: T201
        raise
