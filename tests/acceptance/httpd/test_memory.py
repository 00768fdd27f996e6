# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""httpd's memory after very many requests is what it was after fewer: no object is lost in each."""

import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.programs

LEAK = Path(__file__).parents[3] / "benchmarks" / "httpd" / "leak.py"
REQUESTS = 100_000


@pytest.fixture(scope="module")
def leak(httpd: ModuleType) -> Iterator[ModuleType]:
    """The script of the long measurement."""
    spec = importlib.util.spec_from_file_location("httpd_leak", LEAK)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        # Its import of the file beside it, and what its dataclass looks itself up by.
        patch.setitem(sys.modules, "server", httpd)
        patch.setitem(sys.modules, spec.name, module)
        spec.loader.exec_module(module)
        yield module


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
