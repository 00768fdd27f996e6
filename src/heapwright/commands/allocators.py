# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The work of `heapwright allocators`: lists the usable allocators, or shows one."""

import os
from pathlib import Path

import typer

from heapwright.artefacts.run.provenance import Kind
from heapwright.base.errors import HeapwrightError
from heapwright.commands.output import Destination
from heapwright.commands.setup import discovering
from heapwright.commands.text import as_json_text, print_allocator, print_allocators, svg_text
from heapwright.experiment.treatments import parse_requests


def list_allocators(*, as_json: bool, with_paths: bool) -> None:
    """Print all of them, each with the answer of a probe."""
    with discovering(dict(os.environ)) as discovery:
        found = discovery.everything()
    if as_json:
        typer.echo(as_json_text(found))
    else:
        print_allocators(found, with_paths=with_paths)


def show_allocator(name: str, svg: str | None, *, as_json: bool) -> None:
    """Print one, or draw its layers into the file `svg`. Raises HeapwrightError."""
    destination = None if svg is None else Destination(svg, "--svg")
    if destination is not None and destination.is_standard_output and as_json:
        raise HeapwrightError("--json and --svg - both go to standard output")
    with discovering(dict(os.environ)) as discovery:
        requests = parse_requests([name], discovery.names)
        if len(requests) != 1:
            raise HeapwrightError("name one allocator to show")
        (allocator,) = discovery.look_up(requests)
    if allocator.kind is Kind.FILE and not (allocator.path and Path(allocator.path).is_file()):
        raise HeapwrightError(allocator.reason)
    if destination is not None:
        destination.write(svg_text(allocator))
    if as_json:
        typer.echo(as_json_text(allocator))
    elif destination is None or not destination.is_standard_output:
        print_allocator(allocator)
