# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""One bench for all tests of the harness."""

from collections.abc import Iterator

import pytest

from heapwright.base import native
from heapwright.base.errors import HeapwrightError
from heapwright.experiment.preload import PreloadPaths

from .bench import Bench


@pytest.fixture(scope="session")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    try:
        native.witness()
    except HeapwrightError as error:
        pytest.skip(f"needs the compiled parts: {error}")
    with PreloadPaths() as paths:
        yield Bench(tmp_path_factory.mktemp("bench"), paths)
