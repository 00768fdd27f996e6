# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The places in the program that hold or request most memory, from call stacks of any tool."""

from typing import NamedTuple

from heapwright.artefacts.profile.calls import Function
from heapwright.artefacts.profile.library_frames import is_library_frame
from heapwright.artefacts.stacks.profile import (
    NO_STACK,
    Amount,
    Bounds,
    StackProfile,
    chains,
    stack_of,
)

COUNT_OF = {
    Amount.BYTES: Amount.ALLOCATIONS,
    Amount.AT_PEAK_BYTES: Amount.AT_PEAK,
    Amount.KEPT_BYTES: Amount.KEPT,
}


class Holder(NamedTuple):
    """One stack with an amount of memory."""

    bytes: int
    blocks: int | None
    """None: the tool does not count them."""
    frames: tuple[str, ...]
    """Innermost first."""
    own: tuple[str, ...]
    """Those that are not of a standard library; all if there is none."""
    bounds: Bounds | None = None
    """The 95 % interval of a sampled amount."""

    @property
    def place(self) -> str:
        return self.own[0]


def holders(profile: StackProfile, amount: Amount) -> list[Holder]:
    """The stacks with an amount of memory, the largest first."""
    count = COUNT_OF[amount]
    found: dict[tuple[Function, ...], list[int]] = {}
    places: dict[tuple[Function, ...], list[int]] = {}
    for chain in chains(profile.calls):
        if size := amount.of(chain.own):
            stack = tuple(stack_of(profile.calls, chain.place))
            sums = found.setdefault(stack, [0, 0])
            sums[0] += size
            sums[1] += count.of(chain.own)
            places.setdefault(stack, []).append(chain.place)
    listed = sorted(found.items(), key=lambda each: -each[1][0])
    return [
        _holder(
            stack,
            size,
            blocks if count in profile.known else None,
            profile.bounds(amount, size, places[stack]),
        )
        for stack, (size, blocks) in listed
    ]


def _holder(
    stack: tuple[Function, ...], size: int, blocks: int | None, bounds: Bounds | None
) -> Holder:
    frames = tuple(each.in_words for each in stack) or (NO_STACK,)
    own = tuple(each.in_words for each in stack if not is_library_frame(each.in_words, each.file))
    return Holder(size, blocks, frames, own or frames, bounds)
