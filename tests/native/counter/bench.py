# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The types of the fixtures."""

import subprocess
from collections.abc import Callable
from pathlib import Path

from heapwright.limit.counts import Counts

Counted = Callable[..., tuple[subprocess.CompletedProcess[str], tuple[Counts, ...]]]
Compiled = Callable[..., Path]
