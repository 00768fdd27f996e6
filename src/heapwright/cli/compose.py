# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright compose`: make an allocator from layers, test it and register its name.

This file is the command line only; `commands.compose` does the work. docs/reference/compose.md is
the manual page.
"""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from heapwright import commands
from heapwright.cli import options

EDITS = {
    "insert": "--insert",
    "below": "--below",
    "above": "--above",
    "remove": "--remove",
    "replace": "--replace",
    "with_": "--with",
}


class OrderedCommand(TyperCommand):
    """Records the order of the edits on the command line."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        values, _, order = self.make_parser(ctx).parse_args(args=list(args))
        left = {name: list(values.get(name) or ()) for name in EDITS}
        ctx.meta["heapwright.edits"] = [
            (EDITS[each.name], left[each.name].pop(0))
            for each in order
            if each.name in EDITS and left[each.name]
        ]
        return super().parse_args(ctx, args)


def _layer(what: str) -> Any:
    return typer.Option(metavar="LAYER", help=what, rich_help_panel="Edits, in their order")


app = options.application()


@app.command("compose", cls=OrderedCommand)
def compose(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The new name.")],
    type_: Annotated[
        str | None,
        typer.Option(
            "--type",
            metavar="TYPE",
            help="A C++ type expression of layers and rungs (lea::Checked is a rung); with --file, "
            "which rung of it is meant.",
        ),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            metavar="HEADER",
            help="A header of named steps. The last complete step is the allocator.",
        ),
    ] = None,
    base: Annotated[
        str | None,
        typer.Option("--from", metavar="ALLOCATOR", help="An allocator to start from."),
    ] = None,
    insert: Annotated[
        list[str] | None, _layer("Put this layer in, its policies in angle brackets;")
    ] = None,
    below: Annotated[list[str] | None, _layer("… below this layer or rung,")] = None,
    above: Annotated[list[str] | None, _layer("… or above it.")] = None,
    remove: Annotated[list[str] | None, _layer("Take this layer out.")] = None,
    replace: Annotated[list[str] | None, _layer("Take this layer or policy out,")] = None,
    with_: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            metavar="LAYER",
            help="… and put this one in its place.",
            rich_help_panel="Edits, in their order",
        ),
    ] = None,
    caption: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The effect of the allocator, in one line.")
    ] = None,
    compiler: Annotated[
        str | None,
        typer.Option(metavar="CXX", help="Default: $CXX, else c++, g++ or clang++."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace one that you have composed before.")
    ] = False,
    delete: Annotated[
        bool, typer.Option("--delete", help="Remove NAME from your registry.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("-v", "--verbose", help="Print all messages of the compiler.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Build an allocator from layers, run the conformance suite on it, and register it.

    Examples:
      heapwright compose bounded --type 'BoundedHeap<512 * MiB, lea::Checked>'
      heapwright compose kc --from kingsley --insert CoalesceHeap --below FreelistHeap
      heapwright compose mine --file mine.hpp
    """
    del insert, below, above, remove, replace, with_  # in their order they are in the context
    commands.compose.run_compose(
        commands.compose.Options(
            name=name,
            type=type_,
            file=file,
            base=base,
            edits=tuple(context.meta["heapwright.edits"]),
            caption=caption,
            compiler=compiler,
            force=force,
            delete=delete,
            verbose=verbose,
            as_json=as_json,
        )
    )
