# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Small traces, made of a text trace."""

from collections.abc import Callable
from pathlib import Path

import pytest

CALLS = """\
12: malloc 0x7f0000 16
12: calloc 0x8f0000 3 16
13: free 0x7f0000
13: realloc 0x900000 0x8f0000 99
12: memalign 0x910000 64 300
13: free 0x0
12: thread_done 0x0
"""


@pytest.fixture
def trace(tmp_path: Path, trace_of_text: Callable[[Path, str], Path]) -> Path:
    """A trace of six calls by two threads, or a skip that says what is missing."""
    return trace_of_text(tmp_path, CALLS)
