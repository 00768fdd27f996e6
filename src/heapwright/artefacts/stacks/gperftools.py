# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Heap profiles of TCMalloc and gperftools (`heap profile:`), written by HEAPPROFILE or sampled.

The first line has the live blocks and bytes, all allocated ones, and `@ TYPE/RATE`. Each further
line has the same of one stack, and its return addresses, innermost first. The type `heapprofile` is
exact. `heap_v2` samples with the mean distance RATE. `heap` is its first version, with twice the
mean distance.

Source: `ReadHeapProfile` of gperftools' pprof, whose totals this gives.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial

from heapwright.artefacts.stacks.addresses import AddressStack, of_addresses
from heapwright.artefacts.stacks.mappings import HEADING, read_mappings
from heapwright.artefacts.stacks.profile import StackProfile
from heapwright.artefacts.stacks.sampling import Scaling, UniformScaling
from heapwright.artefacts.stacks.text import Lines
from heapwright.base.errors import HeapwrightError

SOURCE = "TCMalloc"
OPENING = b"heap profile:"
COUNTS = r"\s*(\d+):\s*(\d+)\s*\[\s*(\d+):\s*(\d+)\s*\]\s*@"
HEAD = re.compile(rf"^heap profile:{COUNTS}\s*(?P<type>[a-z_0-9]+)(?:/(?P<rate>\d+))?$")
STACK = re.compile(rf"^{COUNTS}(?P<addresses>(?:\s+0x[0-9a-fA-F]+)*)\s*$")
EXACT = "heapprofile"
SAMPLED = {"heap_v2", "heap"}
USUAL_RATE = 128 * 1024
OF_GO = "#"


def read_gperftools(lines: Lines) -> StackProfile:
    """The live memory and all allocations. Raises HeapwrightError."""
    feed = iter(lines)
    head = HEAD.match(next(feed, ""))
    if head is None:
        raise lines.fault("no first line of a heap profile")
    kind = head["type"]
    if kind != EXACT and kind not in SAMPLED:
        raise HeapwrightError(
            f"{lines.name} is a profile of the type {kind}",
            "heapprofile, heap_v2 and heap can be read",
        )
    stacks = list(_stacks(lines, feed))
    mappings = read_mappings(lines)
    rate = lines.count(head["rate"] or "0")
    scaling: Callable[[], Scaling] = partial(Scaling, 0)
    if kind == "heap_v2":
        scaling = partial(Scaling, rate or USUAL_RATE)
    elif kind == "heap":
        scaling = partial(UniformScaling, rate // 2 or USUAL_RATE)
    return of_addresses(SOURCE, stacks, mappings, scaling)


def _stacks(lines: Lines, feed: Iterator[str]) -> Iterator[AddressStack]:
    """The stacks up to the heading of the mappings."""
    for line in feed:
        if line == HEADING:
            return
        if match := STACK.match(line):
            addresses = [lines.address(each) for each in match["addresses"].split()]
            live, live_bytes, made, made_bytes = map(lines.count, match.groups()[:4])
            yield AddressStack(live, live_bytes, made, made_bytes, addresses)
        elif line.startswith(OF_GO):
            raise HeapwrightError(
                f"{lines.name} is Go's heap profile as text",
                "write the binary one: debug=0 of WriteTo, or no ?debug in the address",
            )
        elif line:
            raise lines.fault("an unknown kind of line")
    raise lines.cut("before its mappings")
