# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright import`: traces that other tools recorded.

This file is the command line only; `commands.trace_formats` does the work. docs/reference/trace.md
is the manual page.
"""

from pathlib import Path
from typing import Annotated

import typer

from heapwright import commands
from heapwright.artefacts.trace.file import TraceFormat
from heapwright.cli import options

app = options.application()


@app.command("import")
def import_(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="A .wl, .mtrace or Android trace, or a log of glibc's mtrace()."
        ),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="TRACE", help="The new trace.")],
    source: Annotated[
        TraceFormat | None,
        typer.Option("--format", help="The format of FILE. Default: by its name or first line."),
    ] = None,
) -> None:
    """Convert a recording of another tool into a trace.

    Examples:
      heapwright import load.wl -o T
      heapwright import recorded.log --format mtrace -o T
    """
    commands.trace_formats.import_file(file, output, source)
