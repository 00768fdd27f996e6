# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""While something is measured: who asks for the end wants what there is so far, and where it is."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from heapwright.artefacts.run.journal import Journal
from heapwright.base.errors import HeapwrightError
from heapwright.base.interruption import ended_as_interrupted

__all__ = ["ended_as_interrupted", "telling_of"]


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
