# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The compact letter display: letters show which treatments differ.

Two treatments share a letter exactly if they do not differ significantly. The algorithm is insert
and absorb:

1. Begin with one letter for all.
2. For each pair that differs, split every letter that joins the two. One part lacks the first
   treatment, the other lacks the second.
3. Absorb a letter if all its treatments also have another common letter.

The result is the largest sets without a difference, for any pattern of pairs.

Source: Piepho 2004, Journal of Computational and Graphical Statistics 13.
"""

from collections.abc import Sequence
from string import ascii_letters

import numpy as np
from numpy.typing import NDArray


def compact_letters(estimates: Sequence[float], differs: NDArray[np.bool_]) -> list[str]:
    """The letters of each treatment, in the order given.

    `estimates` (k) ranks the treatments, the smallest is best and bears "a"; `differs` (k, k) is
    symmetric. The number of letters can grow exponentially with k in theory; for means it does not.
    """
    order = sorted(range(len(estimates)), key=lambda item: (estimates[item], item))
    rank = {item: place for place, item in enumerate(order)}
    groups = [(1 << len(rank)) - 1] if rank else []
    for first, second in zip(*np.nonzero(np.triu(differs, 1)), strict=True):
        groups = _split(groups, 1 << rank[int(first)], 1 << rank[int(second)])
    members = sorted(
        [place for place in range(len(rank)) if group >> place & 1] for group in groups
    )
    letters = [""] * len(rank)
    for number, group in enumerate(members):
        for place in group:
            letters[order[place]] += _letter(number)
    return letters


def _split(groups: list[int], one: int, other: int) -> list[int]:
    """Part `one` and `other` in every group that holds both, then absorb what is contained.

    A group is a set of bits. Only the new parts can be absorbed, because older groups do not
    change.
    """
    both = one | other
    kept = [group for group in groups if group & both != both]
    if len(kept) == len(groups):
        return groups
    parts = dict.fromkeys(
        part for group in groups if group & both == both for part in (group ^ one, group ^ other)
    )
    new = [part for part in parts if not any(part & larger == part for larger in kept)]
    return kept + [
        part for part in new if not any(part & larger == part != larger for larger in new)
    ]


def _letter(number: int) -> str:
    """a … z, A … Z, then numbers in points, as Piepho has it."""
    return ascii_letters[number] if number < len(ascii_letters) else f".{number + 1}."
