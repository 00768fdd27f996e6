# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A small trace whose every figure can be computed by hand, made of a text trace with times."""

from collections.abc import Callable
from pathlib import Path

import pytest

MS = 1_000_000
CALLS = f"""\
7: malloc 0x1000 100 {0 * MS} {1 * MS}
7: calloc 0x2000 2 150 {1 * MS} {2 * MS}
7: malloc 0x3000 100 {2 * MS} {3 * MS}
9: free 0x1000 {50 * MS} {51 * MS}
7: realloc 0x4000 0x2000 500 {60 * MS} {61 * MS}
7: free 0x0 {70 * MS} {71 * MS}
9: memalign 0x5000 64 64 {80 * MS} {81 * MS}
9: free 0x9000 {90 * MS} {91 * MS}
9: free 0x3000 {400 * MS} {401 * MS}
7: free 0x4000 {1500 * MS} {1501 * MS}
"""


@pytest.fixture
def trace(
    tmp_path: Path,
    needs_programs: Callable[..., None],
    trace_of_text: Callable[[Path, str], Path],
) -> Path:
    """A trace of ten calls by two threads, or a skip that says what is missing."""
    needs_programs("profile")
    return trace_of_text(tmp_path, CALLS)
