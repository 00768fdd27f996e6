# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright allocators`: what can be used here; `heapwright allocators show`: one of them."""

import json
import os
from typing import Annotated

import typer

from heapwright.artefacts.errors import HeapwrightError
from heapwright.artefacts.provenance import Allocator

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
    from heapwright.cli.text import print_allocators  # noqa: PLC0415

    with discovering(dict(os.environ)) as discovery:
        found = discovery.everything()
    if as_json:
        _print_json([_as_json(allocator) for allocator in found])
    else:
        print_allocators(found)


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="A name of the list, or the path of a library.")],
    as_json: AsJson = False,
) -> None:
    """Show one allocator; one of ours as the tree of its layers, taken from the type itself."""
    from heapwright.cli.setup import discovering  # noqa: PLC0415
    from heapwright.cli.text import print_allocator  # noqa: PLC0415
    from heapwright.experiment.treatments import parse_requests  # noqa: PLC0415

    with discovering(dict(os.environ)) as discovery:
        requests = parse_requests([name], discovery.names)
        if len(requests) != 1:
            raise HeapwrightError("name one allocator to show")
        (allocator,) = discovery.look_up(requests)
    if as_json:
        _print_json(_as_json(allocator))
    else:
        print_allocator(allocator)


def _as_json(allocator: Allocator) -> object:
    return allocator.model_dump(mode="json")


def _print_json(value: object) -> None:
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))
