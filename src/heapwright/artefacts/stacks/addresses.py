# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Stacks of addresses with sampled amounts, as jemalloc and TCMalloc write them, as a profile."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from heapwright.artefacts.stacks.mappings import Mappings
from heapwright.artefacts.stacks.profile import Amount, StackProfile
from heapwright.artefacts.stacks.sampling import Scaling
from heapwright.artefacts.stacks.tree import TreeBuilder


class AddressStack(NamedTuple):
    """One stack: live blocks, all blocks that were allocated, and return addresses."""

    live: int
    live_bytes: int
    made: int
    made_bytes: int
    addresses: Sequence[int]
    """Innermost first."""


def of_addresses(
    source: str,
    stacks: Sequence[AddressStack],
    mappings: Mappings,
    scaling: Callable[[], Scaling],
) -> StackProfile:
    """The profile before sampling. Each pair of amounts has a `scaling` of its own."""
    builder = TreeBuilder()
    of_live, of_made = scaling(), scaling()
    for stack in stacks:
        live, live_bytes = of_live.scaled(stack.live, stack.live_bytes)
        made, made_bytes = of_made.scaled(stack.made, stack.made_bytes)
        builder.add(
            builder.stack(mappings.stack(builder, stack.addresses)),
            {
                Amount.KEPT: live,
                Amount.KEPT_BYTES: live_bytes,
                Amount.ALLOCATIONS: made,
                Amount.BYTES: made_bytes,
            },
        )
    known = {Amount.KEPT, Amount.KEPT_BYTES}
    if any(stack.made for stack in stacks):
        known |= {Amount.ALLOCATIONS, Amount.BYTES}
    return StackProfile(
        source=source,
        calls=builder.calls(),
        known=frozenset(known),
        at_end=False,
        sampling=of_live.words,
    )
