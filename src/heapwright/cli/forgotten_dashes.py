# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A command line such as `heapwright explain ./program`: the dashes before the command are missing.

The error then shows the correct command line.
"""

import os
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

from heapwright.base.errors import HeapwrightError

TRACE_OR_DOCUMENT = (b"HWTRACE", b"{")
"""First bytes of files that a verb reads itself. Some file systems mark all files executable."""


def refuse_program(command_path: str, words: Sequence[str], suspected: Sequence[str]) -> None:
    """Raise HeapwrightError if one of the words `suspected` is a program; `words` are all of the
    command line behind `command_path`."""
    for word in suspected:
        if _is_program(word):
            at = words.index(word)
            line = shlex.join([*words[:at], "--", *words[at:]])
            raise HeapwrightError(
                f"{word} is a program, and a command to run stands after --",
                f"{command_path} {line}",
            )


def _is_program(word: str) -> bool:
    path = Path(word)
    if not path.exists():
        return shutil.which(word) is not None
    if not path.is_file() or not os.access(path, os.X_OK):
        return False
    with path.open("rb") as file:
        return not file.read(8).startswith(TRACE_OR_DOCUMENT)
