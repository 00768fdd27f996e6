# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What the layers of each kind of small objects promise a program that misuses its heap.

The mistakes are those of `heapwright.compose.mistakes`. What is not named here may end in any way.
"""

from collections.abc import Mapping

from heapwright.tailor.grammar import Core, Sentence

_INVALID = "free(): invalid pointer"
_TWICE = "free(): double free"
_SIZES = {
    "free-sized-larger": "free_sized(): the size is larger than the object",
    "free-aligned-sized-larger": "free_aligned_sized(): the size is larger than the object",
}
_FOREIGN = {
    "free-stack": _INVALID,
    "free-static": _INVALID,
    "realloc-stack": "realloc(): invalid pointer",
}
PROMISES: Mapping[Core, Mapping[str, str]] = {
    "lists": _SIZES,
    "fit": _SIZES,
    "superblocks": {
        **_SIZES,
        **_FOREIGN,
        "double-free": _TWICE,
        "double-free-later": _TWICE,
        "free-interior": _INVALID,
        "free-misaligned": _INVALID,
        "realloc-freed": "realloc(): use of a freed object",
    },
    "owner-caches": {**_SIZES, **_FOREIGN},
}
"""By mistake, the words behind `heapwright: ` with which the program aborts."""


def promises_of(sentence: Sentence) -> Mapping[str, str]:
    """The same of a sentence. The heap of some call sites checks no object, so it detects no second
    free and no free inside an object."""
    promises = PROMISES[sentence.core]
    if not sentence.sites:
        return promises
    anywhere = {**_SIZES, **_FOREIGN}
    return {mistake: words for mistake, words in promises.items() if mistake in anywhere}
