# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Made-up studies: a small one in which one allocator crashes, and one as large as the largest."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from heapwright.report.study.view import StudyView


def _making() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "report_study_making", Path(__file__).with_name("making.py")
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


MAKING = _making()


@pytest.fixture(scope="session")
def making() -> ModuleType:
    """How made-up studies are made."""
    return MAKING


@pytest.fixture(scope="session")
def small(making: ModuleType) -> StudyView:
    """Two factors besides three allocators, five blocks; every second run of `bad<b>` crashes."""
    view: StudyView = making.view_of(making.SMALL, 5, failing="bad<b>")
    return view
