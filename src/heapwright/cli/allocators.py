# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright allocators`: what can be used here; `heapwright allocators show`: one of them."""

from typing import Annotated

import typer

from heapwright import commands
from heapwright.cli import options

HELP = """\
List the allocators that can be used here, or show one of them.

A probe tests for each of them whether its preload takes effect.

Examples:
  heapwright allocators
  heapwright allocators show lea
"""

app = options.application(
    name="allocators",
    help=HELP,
)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


@app.callback(invoke_without_command=True)
def allocators(
    context: typer.Context,
    as_json: AsJson = False,
    with_paths: Annotated[
        bool, typer.Option("--paths", help="Print the path of each library as well.")
    ] = False,
) -> None:
    """List the allocators unless a subcommand is named."""
    if context.invoked_subcommand is not None:
        return
    commands.allocators.list_allocators(as_json=as_json, with_paths=with_paths)


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="A name of the list, or the path of a library.")],
    as_json: AsJson = False,
    svg: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Draw its layers into an SVG file; - is stdout."),
    ] = None,
) -> None:
    """Show an allocator. A composition is drawn as the tree of its layers.

    Examples:
      heapwright allocators show lea
      heapwright allocators show granary --svg granary.svg
    """
    commands.allocators.show_allocator(name, svg, as_json=as_json)
