# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The work of `heapwright compose`: calls the stage and prints its result."""

import contextlib
import os
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

import typer

from heapwright.artefacts.allocator.user_registry import read_registry, user_allocators, user_home
from heapwright.artefacts.run.provenance import Allocator
from heapwright.base import native
from heapwright.base.errors import HeapwrightError
from heapwright.commands.setup import discovering
from heapwright.commands.slow_steps import reporting_steps
from heapwright.commands.text import as_json_text, print_made
from heapwright.compose import installation
from heapwright.compose.edits import parse_edits
from heapwright.compose.workshop import NotComposableError, Order, Shop, compose
from heapwright.experiment.discovery import Discovery
from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.treatments import Request


@dataclass(frozen=True, slots=True)
class Options:
    """The command line, read."""

    name: str
    type: str | None
    file: Path | None
    base: str | None
    edits: tuple[tuple[str, str], ...]
    """Pairs of an option and its value, in the order of the command line."""
    caption: str | None
    compiler: str | None
    force: bool
    delete: bool
    verbose: bool
    as_json: bool


def run_compose(options: Options) -> None:
    """Make an allocator, or delete it. Raises HeapwrightError for a refused request."""
    edits = tuple(parse_edits(options.edits))
    if options.delete:
        if options.type or options.file or options.base or edits:
            raise HeapwrightError("--delete takes a name and nothing else")
        delete_one(options.name)
        return
    order = Order(
        name=options.name,
        type=options.type or "",
        file=options.file,
        base=options.base or "",
        edits=edits,
        caption=options.caption or "",
        compiler=options.compiler,
        force=options.force,
        command=shlex.join(["heapwright", *sys.argv[1:]]),
    )
    _refuse_wrong_start(order)
    make_one(order, verbose=options.verbose, as_json=options.as_json)


def _refuse_wrong_start(order: Order) -> None:
    """Exactly one thing to start from. Raises HeapwrightError."""
    starts = [order.base, order.file or order.type]
    if sum(map(bool, starts)) != 1:
        what = "several things" if all(starts) else "nothing"
        raise HeapwrightError(
            f"there is {what} to make {order.name} from",
            "use one of --type TYPE, --file HEADER and --from ALLOCATOR",
        )
    if order.edits and not order.base:
        raise HeapwrightError("edits need --from ALLOCATOR, the allocator to edit")


def make_one(order: Order, *, verbose: bool, as_json: bool) -> None:
    """Compose, and print the result."""
    environment = dict(os.environ)
    folder = native.native_dir()
    with PreloadPaths() as paths, reporting_steps() as tell:
        with discovering(environment, paths) as discovery:
            shop = Shop(
                native=folder,
                catalogue=read_registry(folder, user_allocators(environment)),
                allocators=user_allocators(environment),
                environment=environment,
                conformance=native.program("conformance"),
                preload=paths.of,
                judge=lambda name, library: _judged(discovery, name, library).reason,
                tell=lambda what, done, of: tell(what, f"{done} of {of}" if of else ""),
            )
            try:
                made = compose(order, shop)
            except NotComposableError as error:
                raise _with_pages(error, order.name, verbose=verbose) from error
        with discovering(environment, paths) as discovery:
            (allocator,) = discovery.requested([Request(order.name)])
    if as_json:
        typer.echo(as_json_text(allocator))
    else:
        print_made(allocator, made.notes, made.folder / made.entry.header, made.verdict)


def delete_one(name: str) -> None:
    """Delete an allocator of the user's."""
    environment = dict(os.environ)
    allocators = user_allocators(environment)
    registry = read_registry(native.native_dir(), allocators)
    place = installation.delete(allocators, name, registry)
    typer.echo(f"{name} is deleted: {place}")


def _judged(discovery: Discovery, name: str, library: Path) -> Allocator:
    (allocator,) = discovery.look_up([Request(name, str(library))])
    return allocator


def _with_pages(error: NotComposableError, name: str, *, verbose: bool) -> HeapwrightError:
    """The error with the place of the full compiler output."""
    if not error.pages:
        return error
    if verbose:
        typer.echo(error.pages, err=True)
        return error
    log = user_home(os.environ) / "logs" / f"compose-{name}.txt"
    hint = "--verbose prints all that the compiler says"
    with contextlib.suppress(OSError):
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(error.pages, encoding="utf-8", errors="replace")
        hint = f"all that the compiler says: {log}"
    return HeapwrightError(error.message, "\n".join(filter(None, [error.hint, hint])))
