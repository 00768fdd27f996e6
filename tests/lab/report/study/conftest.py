# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A small made-up study in which one allocator crashes."""

import pytest

from heapwright.report.study.view import StudyView

from . import made_page


@pytest.fixture(scope="session")
def small() -> StudyView:
    """Two factors besides three allocators, five blocks; every second run of `bad<b>` crashes."""
    return made_page.view_of(made_page.SMALL, 5, failing="bad<b>")
