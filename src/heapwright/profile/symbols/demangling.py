# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""C++ and Rust names as people write them, by the system's c++filt; without it as they are."""

import shutil
import subprocess
from collections.abc import Iterable

PROGRAM = "c++filt"
MANGLED = ("_Z", "_R")
PATIENCE_S = 60


def demangled(names: Iterable[str]) -> dict[str, str]:
    """What each name stands for; names that stand for themselves are missing."""
    asked = sorted({name for name in names if name.startswith(MANGLED) and "\n" not in name})
    program = shutil.which(PROGRAM)
    if not asked or program is None:
        return {}
    try:
        done = subprocess.run(
            [program],
            input="\n".join(asked) + "\n",
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PATIENCE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return {}
    answers = done.stdout.splitlines()
    if done.returncode != 0 or len(answers) != len(asked):
        return {}
    return {name: answer for name, answer in zip(asked, answers, strict=True) if name != answer}
