# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The heap, and what it knows of signal handlers, are there from the first instruction; libraries
come and go beside it. The C library is the control.
"""

from pathlib import Path

import pytest

from .building import PROMISING, assert_quiet_success, compiled, library


@pytest.mark.parametrize("allocator", ["glibc", *PROMISING])
def test_allocators_work_before_the_first_constructor(tmp_path: Path, allocator: str) -> None:
    program = str(compiled(tmp_path, "starting.c"))
    assert_quiet_success([program, "begun"], library(allocator))


@pytest.mark.parametrize("allocator", ["glibc", *PROMISING])
def test_constructor_of_another_preloaded_library_comes_first(
    tmp_path: Path, allocator: str
) -> None:
    program = str(compiled(tmp_path, "starting.c"))
    other = str(compiled(tmp_path, "plugin.c", "-shared", "-fPIC"))
    assert_quiet_success([program, "begun"], other, library(allocator))


@pytest.mark.parametrize("allocator", ["glibc", *PROMISING])
def test_libraries_come_and_go(tmp_path: Path, allocator: str) -> None:
    program = str(compiled(tmp_path, "starting.c"))
    plugin = str(compiled(tmp_path, "plugin.c", "-shared", "-fPIC"))
    assert_quiet_success([program, "plugins", "500", plugin], library(allocator))
