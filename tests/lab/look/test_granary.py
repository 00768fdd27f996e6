# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The walk of granary's heap, beside what the program itself states."""

import pytest

from heapwright.base import native
from heapwright.look.scan import Scan, scan_process

from .conftest import Start

CACHED = 0.05
"""Objects in the caches of threads count as live."""


@pytest.mark.parametrize(
    ("name", "most_above"),
    [("small", 0.01), ("mapped", 0.01), ("mixed", CACHED), ("arenas", CACHED), ("pins", CACHED)],
)
def test_live_bytes_of_granary_are_those_of_the_program(
    shape: Start, name: str, most_above: float
) -> None:
    with shape(name, LD_PRELOAD=str(native.library("granary"))) as truth:
        scan = scan_process(truth.pid, pause=False, leaks=False)
        assert isinstance(scan, Scan)
    assert scan.granary is not None
    live = scan.granary.small.bytes + scan.granary.large.bytes
    assert truth.bytes * 0.999 <= live <= truth.bytes * (1 + most_above)
    anonymous = next(each for each in scan.categories if each.name == "anonymous")
    assert scan.granary.resident_bytes <= anonymous.resident_bytes


def test_a_process_without_granary_has_no_such_heap(shape: Start) -> None:
    with shape("small") as truth:
        scan = scan_process(truth.pid, pause=False, leaks=False)
    assert isinstance(scan, Scan)
    assert scan.granary is None
