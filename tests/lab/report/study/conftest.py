# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A small made-up study in which one allocator crashes."""

import pytest

from heapwright.report.study.view import StudyView

from . import making


@pytest.fixture(scope="session")
def small() -> StudyView:
    """Two factors besides three allocators, five blocks; every second run of `bad<b>` crashes."""
    return making.view_of(making.SMALL, 5, failing="bad<b>")
