# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Boots of kernels are tested where there is a kernel to boot: `make test-kernel` builds them.

Where the cache holds none, the tests of that file are left out; all others need no kernel.
"""

import os
import shutil

import pytest

from heapwright.kernel.folders import kernel_cache
from heapwright.kernel.image_cache import every
from heapwright.kernel.machine import QEMU

can_boot = shutil.which(QEMU) is not None and any(every(kernel_cache(os.environ)))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not can_boot:
        items[:] = [each for each in items if each.path.name != "test_cached_kernels.py"]
