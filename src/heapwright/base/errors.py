# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The one exception whose text is meant for the user.

A condition that the user can cause (a misspelt name, a broken library, a full disk) is raised as a
`HeapwrightError`. It has one sentence that states the fault, and a hint that says what to do. The
command line prints both and leaves with `exit_code`; a traceback therefore always means a defect.
"""

from enum import IntEnum


class ExitCode(IntEnum):
    """What the process says to its caller; docs/how-to/command-line.md lists them by verb."""

    OK = 0
    NOTHING_COMPARED = 1
    BAD_INPUT = 2
    NOT_WRITTEN = 3
    NOT_STARTED = 125
    INTERRUPTED = 130


class HeapwrightError(Exception):
    """What went wrong, in one sentence, and what to do about it."""

    def __init__(
        self, message: str, hint: str = "", *, exit_code: ExitCode = ExitCode.BAD_INPUT
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.exit_code = exit_code
