# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Heap profiles of jemalloc (`heap_v2/RATE`): the sampled live blocks when the file was written.

A line of `@` and return addresses, innermost first, starts a stack. Below it, `t*:` has its live
blocks and bytes, and in brackets all allocated ones, if the option `prof_accum` counted them. Lines
of single threads follow, and are left out. The file ends with the mappings of the process.

Source: `ReadThreadedHeapProfile` of jeprof, whose totals this gives.
"""

import re
from collections.abc import Iterator
from functools import partial

from heapwright.artefacts.stacks.addresses import AddressStack, of_addresses
from heapwright.artefacts.stacks.mappings import HEADING, read_mappings
from heapwright.artefacts.stacks.profile import StackProfile
from heapwright.artefacts.stacks.sampling import Scaling
from heapwright.artefacts.stacks.text import Lines

SOURCE = "jemalloc"
OPENING = b"heap_v2/"
AMOUNTS = re.compile(r"^\s*t(?P<thread>\*|\d+): (\d+): (\d+) \[(\d+): (\d+)\]$")


def read_jemalloc(lines: Lines) -> StackProfile:
    """The live memory, and all allocations if they were counted. Raises HeapwrightError."""
    feed = iter(lines)
    rate = lines.count(next(feed, "").removeprefix(OPENING.decode()))
    stacks = list(_stacks(lines, feed))
    return of_addresses(SOURCE, stacks, read_mappings(lines), partial(Scaling, rate))


def _stacks(lines: Lines, feed: Iterator[str]) -> Iterator[AddressStack]:
    """The stacks up to the heading of the mappings. The amounts before the first are totals."""
    addresses: list[int] | None = None
    is_head = True
    for line in feed:
        if line == HEADING or line.startswith("@"):
            if addresses is not None:
                raise lines.fault("the stack before has no amounts")
            if line == HEADING:
                return
            addresses, is_head = [lines.address(each) for each in line[1:].split()], False
        elif match := AMOUNTS.match(line):
            if match["thread"] == "*" and not is_head:
                if addresses is None:
                    raise lines.fault("amounts without a stack")
                live, live_bytes, made, made_bytes = map(lines.count, match.groups()[1:])
                yield AddressStack(live, live_bytes, made, made_bytes, addresses)
                addresses = None
        elif line:
            raise lines.fault("an unknown kind of line")
    raise lines.cut("before its mappings")
