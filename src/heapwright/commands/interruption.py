# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""An analysis that is broken off leaves the runs it has; the user is shown where they are."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from heapwright.artefacts.run.journal import Journal
from heapwright.base.errors import HeapwrightError


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
