# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The distribution's tools that know names and lines. Each tool is optional."""

import shutil
import subprocess
from collections.abc import Sequence


def answer_of(program: str, options: Sequence[str], text: str, patience_s: float) -> str:
    """What the program prints when it is given `text`; nothing where it is missing or fails."""
    found = shutil.which(program)
    if found is None:
        return ""
    try:
        done = subprocess.run(
            [found, *options],
            input=text,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=patience_s,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""
