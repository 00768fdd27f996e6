# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Something that is wrong with a file in TOML, and where in it."""

from collections.abc import Iterable
from dataclasses import dataclass

from heapwright.base.spelling import nearest

Keys = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """`text` about what the keys lead to."""

    keys: Keys
    text: str
    hint: str = ""


def unknown_name(keys: Keys, text: str, name: str, known: Iterable[str]) -> Problem:
    """A name that is none of the known ones; the hint is the nearest, or all of them."""
    names = list(known)
    near = nearest(name, names)
    listing = f"there are {', '.join(names[:20])}" if names else "there are none"
    return Problem(keys, text, near or listing)
