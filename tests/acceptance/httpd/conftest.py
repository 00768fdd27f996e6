# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The distribution's httpd, started by the tests; the file that starts it is the benchmarks'."""

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

from heapwright.base.native import NativeMissingError
from support.scripts import load_script

POOLS = ("stock", "reap", "emulated")


@pytest.fixture(scope="session")
def httpd() -> ModuleType:
    """How servers are started and asked."""
    module = load_script("benchmarks/httpd/server.py")
    if reason := module.missing():
        pytest.skip(reason)
    return module


@pytest.fixture(scope="session")
def needs_pools(httpd: ModuleType) -> Callable[[str], None]:
    """Skips where a library of pools was not built."""

    def need(pools: str) -> None:
        try:
            httpd.library_of(httpd.Pools(pools))
        except NativeMissingError as error:
            pytest.skip(f"{error.message} (packages libapr1-dev, libaprutil1-dev)")

    return need


@pytest.fixture(scope="session")
def needs_calculator(httpd: ModuleType) -> None:
    if not httpd.calculator().is_file():
        pytest.skip("the calculator's module was not built (package apache2-dev)")


@pytest.fixture(params=POOLS)
def server(
    request: pytest.FixtureRequest, httpd: ModuleType, needs_pools: Callable[[str], None]
) -> Iterator[Any]:
    """A server on each kind of pools; at the end of the test it has to end in order."""
    needs_pools(request.param)
    with httpd.serving(httpd.Pools(request.param)) as running:
        yield running
