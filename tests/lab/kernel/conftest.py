# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Boots of kernels are tested where there is a kernel to boot: `make test-kernel` builds them.

Where the cache holds none, the file of those tests is not collected; all others need no kernel.
"""

import os
import shutil

from heapwright.kernel.folders import kernel_cache
from heapwright.kernel.image_cache import every
from heapwright.kernel.machine import QEMU

can_boot = shutil.which(QEMU) is not None and any(every(kernel_cache(os.environ)))
collect_ignore = [] if can_boot else ["test_cached_kernels.py"]
