# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright compose`: make an allocator from layers, prove it, and know it by name from then on.

This file is the command line only; `cli.composing` does the work. docs/compose.md is the manual
page.
"""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from heapwright.base.errors import HeapwrightError

if TYPE_CHECKING:
    from heapwright.compose.workshop import Order

EDITS = {
    "insert": "--insert",
    "below": "--below",
    "above": "--above",
    "remove": "--remove",
    "replace": "--replace",
    "with_": "--with",
}
EXAMPLES = """
\b
Examples:
  heapwright compose bounded-lea --type 'BoundedHeap<512 * MiB, lea::Checked>'
  heapwright compose kc --from kingsley --insert CoalesceHeap --below FreelistHeap
  heapwright compose mine --file mine.hpp
"""


class OrderedCommand(TyperCommand):
    """Remembers in which order the edits stand on the command line."""

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


def compose(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it is to be called.")],
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
        typer.Option(metavar="HEADER", help="A header of named rungs; its last complete one."),
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
        str | None, typer.Option(metavar="TEXT", help="What it does, in one line.")
    ] = None,
    compiler: Annotated[
        str | None,
        typer.Option(metavar="CXX", help="Default: $CXX, else c++, g++ or clang++."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace one that you have composed before.")
    ] = False,
    delete: Annotated[
        bool, typer.Option("--delete", help="Take NAME out of your registry instead.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("-v", "--verbose", help="Print all that the compiler says.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was made as JSON.")] = False,
) -> None:
    """Make an allocator from layers: compile it, run the conformance suite on it, and know it by
    name from then on."""
    del insert, below, above, remove, replace, with_  # in their order they are in the context
    from heapwright.cli.composing import delete_one, make_one  # noqa: PLC0415
    from heapwright.compose.edits import parse_edits  # noqa: PLC0415
    from heapwright.compose.workshop import Order  # noqa: PLC0415

    edits = tuple(parse_edits(context.meta["heapwright.edits"]))
    if delete:
        if type_ or file or base or edits:
            raise HeapwrightError("--delete takes a name and nothing else")
        delete_one(name)
        return
    order = Order(
        name=name,
        type=type_ or "",
        file=file,
        base=base or "",
        edits=edits,
        caption=caption or "",
        compiler=compiler,
        force=force,
        command=shlex.join(["heapwright", *sys.argv[1:]]),
    )
    _check(order)
    make_one(order, verbose=verbose, as_json=as_json)


def _check(order: "Order") -> None:
    """Exactly one thing to start from. Raises HeapwrightError."""
    starts = [order.base, order.file or order.type]
    if sum(map(bool, starts)) != 1:
        what = "several things" if all(starts) else "nothing"
        raise HeapwrightError(
            f"there is {what} to make {order.name} from",
            "say one of --type TYPE, --file HEADER and --from ALLOCATOR",
        )
    if order.edits and not order.base:
        raise HeapwrightError("edits need --from ALLOCATOR, which they are made on")
