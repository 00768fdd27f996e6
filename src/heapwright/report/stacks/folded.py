# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Folded stacks: one line for each chain of functions, for flame graphs of other tools.

A line has the functions, outermost first and separated by semicolons, then a space and the amount
of the innermost function itself. Source: the format of Gregg's scripts for flame graphs, which
speedscope and others read.
"""

from collections.abc import Iterator

from heapwright.artefacts.profile.calls import Calls
from heapwright.artefacts.profile.measure import Measure
from heapwright.report.flame.merge import tree_of

NO_STACK = "no stack"
FIELDS = {
    Measure.BYTES: "bytes",
    Measure.CALLS: "allocations",
    Measure.PEAK: "at_peak_bytes",
    Measure.NEVER_FREED: "never_freed_bytes",
}
"""The field of `Sums` for each measure."""


def folded_lines(calls: Calls, measure: Measure) -> Iterator[str]:
    """The lines, with line ends. Their amounts add up to that of the whole profile."""
    boxes = tree_of(calls).boxes
    amounts = [getattr(box.sums, FIELDS[measure]) for box in boxes]
    own = list(amounts)
    for box, amount in zip(boxes[1:], amounts[1:], strict=True):
        own[box.parent] -= amount
    chains = [""]
    for box in boxes[1:]:
        above = chains[box.parent]
        name = box.name.replace(";", ":").replace("\n", " ")
        chains.append(f"{above};{name}" if above else name)
    for chain, amount in zip(chains, own, strict=True):
        if amount > 0:
            yield f"{chain or NO_STACK} {amount}\n"
