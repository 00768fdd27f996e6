# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Hints for names that are misspelt."""

import difflib
from collections.abc import Sequence


def nearest(name: str, known: Sequence[str]) -> str:
    """A hint with what `name` may be meant for."""
    near = difflib.get_close_matches(name, known, 3, 0.6)
    if len(name) > 3:
        near += [each for each in known if each not in near and name.lower() in each.lower()][:3]
    return f"did you mean {' or '.join(near)}?" if near else ""
