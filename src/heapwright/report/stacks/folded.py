# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Folded stacks: one line for each chain of functions, for flame graphs of other tools.

A line has the functions, outermost first and separated by semicolons, then a space and the amount
of the innermost function itself. Source: the format of Gregg's scripts for flame graphs, which
speedscope and others read.
"""

from collections.abc import Iterator

from heapwright.artefacts.profile.calls import Calls
from heapwright.artefacts.stacks.profile import NO_STACK, Amount
from heapwright.report.flame.merge import tree_of


def folded_lines(calls: Calls, amount: Amount) -> Iterator[str]:
    """The lines, with line ends. Their amounts add up to that of the whole profile."""
    boxes = tree_of(calls).boxes
    amounts = [getattr(box.sums, amount.value) for box in boxes]
    own = list(amounts)
    for box, inner in zip(boxes[1:], amounts[1:], strict=True):
        own[box.parent] -= inner
    chains = [""]
    for box in boxes[1:]:
        above = chains[box.parent]
        name = box.name.replace(";", ":").replace("\n", " ")
        chains.append(f"{above};{name}" if above else name)
    for chain, mine in zip(chains, own, strict=True):
        if mine > 0:
            yield f"{chain or NO_STACK} {mine}\n"
