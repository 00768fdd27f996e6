# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""An interrupted analysis keeps its runs and prints their place."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from heapwright.artefacts.run.journal import Journal
from heapwright.base.errors import HeapwrightError


@contextmanager
def telling_of(journal: Journal) -> Iterator[None]:
    """Print the place of the runs if the analysis is interrupted, or fails by a defect of
    heapwright."""
    try:
        yield
    except (HeapwrightError, BrokenPipeError):
        raise
    except BaseException:
        if journal.path is not None:
            print(f"heapwright: raw runs: {journal.path}", file=sys.stderr)  # noqa: T201
        raise
