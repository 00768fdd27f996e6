# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The work of `heapwright trace`: shows the content of a trace, or checks it."""

from pathlib import Path

import typer

from heapwright.artefacts.trace.file import check_trace, trace_info
from heapwright.commands.text import printing
from heapwright.report.console import make_console
from heapwright.report.trace import print_check, print_info


def show_info(trace: Path, *, as_json: bool) -> None:
    """Print the content of the trace. Raises HeapwrightError."""
    found = trace_info(trace)
    with printing():
        if as_json:
            typer.echo(found.model_dump_json(indent=2))
        else:
            print_info(make_console(), trace, found)


def check(trace: Path, *, as_json: bool) -> bool:
    """Read all of the trace and print its faults; return whether there are none."""
    found = check_trace(trace)
    with printing():
        if as_json:
            typer.echo(found.model_dump_json(indent=2))
        else:
            print_check(make_console(), trace, found, trace_info(trace).open_blocks)
    return not found.fault_count
