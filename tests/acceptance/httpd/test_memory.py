# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""httpd's memory after very many requests is what it was after fewer: no object is lost in each."""

import sys
from collections.abc import Callable, Iterator
from types import ModuleType

import pytest

from support.scripts import load_script

pytestmark = pytest.mark.programs

REQUESTS = 100_000


@pytest.fixture(scope="module")
def leak(httpd: ModuleType) -> Iterator[ModuleType]:
    """The script of the long measurement."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "server", httpd)  # its import of the file beside it
        yield load_script("benchmarks/httpd/leak.py")


@pytest.mark.slow
@pytest.mark.parametrize("pools", ["reap", "emulated"])
def test_nothing_is_lost_in_each_request(
    httpd: ModuleType, leak: ModuleType, needs_pools: Callable[[str], None], pools: str
) -> None:
    needs_pools(pools)
    memory = leak.measure(httpd.Pools(pools), REQUESTS)
    assert memory.leak(REQUESTS) < leak.LEAK
    assert memory.burst > 0
    if pools == "reap":  # the C library's malloc keeps what emulated pools free in a burst
        assert memory.after <= 1.1 * max(memory.idle)
