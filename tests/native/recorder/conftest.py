# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""One bench for all tests of the recorder."""

from pathlib import Path

import pytest

from heapwright.base import native
from heapwright.base.errors import HeapwrightError

from .bench import Bench


@pytest.fixture(scope="session")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    try:
        native.program("record")
        native.library("recorder")
        native.program("trace")
    except HeapwrightError as error:
        pytest.skip(f"needs the compiled parts: {error}")
    return Bench(tmp_path_factory.mktemp("recorder"))


@pytest.fixture(scope="session")
def endings(recording: Bench) -> Path:
    return recording.program("endings.c")
