# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Where a report is printed: a terminal of some width, or a pipe or file of any.

A terminal gets colour (unless NO_COLOR is set) and lines of its width. A pipe or a file gets plain
text with unlimited lines, because a program such as `grep` reads one entry a line. The variable
COLUMNS sets the width of both. Text is printed literally: the brackets in an allocator's label and
the colons in a path are no markup.
"""

import os
import re
import sys
from collections.abc import Iterable
from io import TextIOWrapper
from typing import TextIO

from rich.console import Console
from rich.segment import Segment

UNLIMITED = 100_000
BLANKS = re.compile(r" +(?=\n)")


class _Console(Console):
    """Raises an error when the reader has closed the pipe, instead of exiting. Removes blanks at
    the ends of lines, which fill up tables."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError

    def _render_buffer(self, buffer: Iterable[Segment]) -> str:
        text = super()._render_buffer(buffer)
        return text if self.is_terminal else BLANKS.sub("", text)


def make_console(stream: TextIO | None = None, *, width: int | None = None) -> Console:
    """A console on `stream` (standard output by default); `width` replaces the detected one.

    A character that the stream's encoding lacks is written as an escape rather than raised.
    """
    target = sys.stdout if stream is None else stream
    if isinstance(target, TextIOWrapper):
        target.reconfigure(errors="backslashreplace")
    if width is None and not target.isatty():
        width = asked_width() or UNLIMITED
    return _Console(
        file=target,
        width=width,
        highlight=False,
        markup=False,
        emoji=False,
        force_jupyter=False,
    )


def asked_width() -> int | None:
    """The width of the variable COLUMNS; None if it is not a positive number."""
    text = os.environ.get("COLUMNS", "")
    return int(text) or None if text.isascii() and text.isdigit() else None
