# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The compact letter display: who differs from whom, told with letters.

Two treatments share a letter exactly if they do not differ significantly. Insert and absorb (Piepho
2004, Journal of Computational and Graphical Statistics 13): begin with one letter for all; for each
pair that differs, split every letter that joins the two into one without the first and one without
the second; absorb a letter whose bearers all bear another one too. What remains are the largest
sets without a difference, whatever pattern the pairs form.
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
    groups: list[frozenset[int]] = [frozenset(rank.values())] if rank else []
    for first, second in zip(*np.nonzero(np.triu(differs, 1)), strict=True):
        groups = _split(groups, rank[int(first)], rank[int(second)])
    groups.sort(key=sorted)
    return [
        "".join(_letter(number) for number, group in enumerate(groups) if rank[item] in group)
        for item in range(len(estimates))
    ]


def _split(groups: list[frozenset[int]], one: int, other: int) -> list[frozenset[int]]:
    """Part `one` and `other` in every group that holds both, then absorb what is contained."""
    parts: list[frozenset[int]] = []
    for group in groups:
        if one in group and other in group:
            parts += [group - {one}, group - {other}]
        else:
            parts.append(group)
    unique = list(dict.fromkeys(parts))
    return [part for part in unique if not any(part < larger for larger in unique)]


def _letter(number: int) -> str:
    """a … z, A … Z, then numbers in points, as Piepho has it."""
    return ascii_letters[number] if number < len(ascii_letters) else f".{number + 1}."
