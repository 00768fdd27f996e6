# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Commands that tests run to any end."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def ran(command: Sequence[str | Path], **options: Any) -> subprocess.CompletedProcess[str]:
    """The command's status and what it wrote, as text."""
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)
