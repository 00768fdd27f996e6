# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright allocators`: what can be used here; `heapwright allocators show`: one of them."""

import os
from typing import Annotated

import typer

from heapwright.base.errors import HeapwrightError

app = typer.Typer(
    help="List the allocators that can be used here, or show one of them.",
    pretty_exceptions_enable=False,
)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


@app.callback(invoke_without_command=True)
def allocators(context: typer.Context, as_json: AsJson = False) -> None:
    """List the allocators that can be used here, each with the answer of a probe: does a preload
    of it really take effect?"""
    if context.invoked_subcommand is not None:
        return
    from heapwright.cli.setup import discovering  # noqa: PLC0415
    from heapwright.cli.text import as_json_text, print_allocators  # noqa: PLC0415

    with discovering(dict(os.environ)) as discovery:
        found = discovery.everything()
    if as_json:
        typer.echo(as_json_text(found))
    else:
        print_allocators(found)


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="A name of the list, or the path of a library.")],
    as_json: AsJson = False,
    svg: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Draw its layers into an SVG file; - is stdout."),
    ] = None,
) -> None:
    """Show one allocator; a composition as the tree of its layers, taken from the type itself."""
    from heapwright.cli.output import Destination  # noqa: PLC0415
    from heapwright.cli.setup import discovering  # noqa: PLC0415
    from heapwright.cli.text import as_json_text, print_allocator, svg_text  # noqa: PLC0415
    from heapwright.experiment.treatments import parse_requests  # noqa: PLC0415

    destination = None if svg is None else Destination(svg, "--svg")
    if destination is not None and destination.is_standard_output and as_json:
        raise HeapwrightError("--json and --svg - both go to standard output")
    with discovering(dict(os.environ)) as discovery:
        requests = parse_requests([name], discovery.names)
        if len(requests) != 1:
            raise HeapwrightError("name one allocator to show")
        (allocator,) = discovery.look_up(requests)
    if destination is not None:
        destination.write(svg_text(allocator))
    if as_json:
        typer.echo(as_json_text(allocator))
    elif destination is None or not destination.is_standard_output:
        print_allocator(allocator)
