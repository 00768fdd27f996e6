# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright limit`: did a command keep its budgets of memory? For tests.

This file is the command line only; `commands.limit` does the work. docs/reference/limit.md is the
manual page.
"""

from pathlib import Path
from typing import Annotated

import typer

from heapwright import commands
from heapwright.artefacts.limit.document import Budget, Kind, Unit
from heapwright.base.errors import HeapwrightError
from heapwright.cli import options
from heapwright.cli.values import parse_allowance, parse_count

app = options.application()


@app.command("limit", cls=options.CommandAfterDashes)
def limit(
    context: typer.Context,
    allocations: Annotated[
        str | None,
        typer.Option(metavar="COUNT", help="Calls that return a block, such as 1e6."),
    ] = None,
    size: Annotated[
        str | None,
        typer.Option("--bytes", metavar="SIZE", help="Bytes that all these calls request."),
    ] = None,
    peak: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Requested bytes that are live at once, such as 200M."),
    ] = None,
    leaks: Annotated[
        str | None,
        typer.Option(
            metavar="AMOUNT",
            help="Blocks to which no pointer leads at the end; with a unit, such as 64K, bytes.",
        ),
    ] = None,
    no_alloc_in: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FUNCTION",
            help="No allocation in this function, nor in functions that it calls. May be repeated.",
        ),
    ] = None,
    follow: Annotated[
        bool,
        typer.Option(
            "--follow-children/--no-follow-children",
            help="Each process that the command starts has to keep the budgets, too.",
        ),
    ] = True,
    sites: Annotated[
        bool,
        typer.Option(
            "--sites/--no-sites",
            help="Record stacks, so that an exceeded budget has its call sites.",
        ),
    ] = True,
    json_file: options.JsonFile = None,
    output: options.KeptTrace = None,
    quiet: Annotated[
        bool, typer.Option("-q", "--quiet", help="Print only the budgets that were not kept.")
    ] = False,
) -> None:
    """Check budgets of memory: allocations, bytes, peak, leaks, functions that must not allocate.

    Examples:
      heapwright limit --allocations 1e6 --peak 200M --leaks 0 -- ./program
      heapwright limit --no-alloc-in process -- ./program
      heapwright limit --json limit.json -- ./program
    """
    command = options.command_after_dashes(context)
    if command is None:
        raise HeapwrightError(
            "there is no command to check", "heapwright limit --peak 200M -- ./program"
        )
    budgets: list[Budget] = []
    if allocations is not None:
        budgets.append(_budget(Kind.ALLOCATIONS, Unit.ALLOCATIONS, allocations))
    budgets += [
        _budget(kind, Unit.BYTES, text)
        for kind, text in ((Kind.BYTES, size), (Kind.PEAK, peak))
        if text is not None
    ]
    if leaks is not None:
        budgets.append(_leaks(leaks))
    budgets += [_function(each) for each in no_alloc_in or ()]
    status = commands.limit.run_limit(
        commands.limit.Options(
            command=command,
            budgets=tuple(budgets),
            sites=_needs_stacks(budgets, sites=sites, output=output),
            follow=follow,
            json_file=json_file,
            output=output,
            quiet=quiet,
        )
    )
    if status:
        raise typer.Exit(status)


def _needs_stacks(budgets: list[Budget], *, sites: bool, output: Path | None) -> bool:
    """Whether the command is recorded. Without budgets the counts are enough."""
    if sites:
        return bool(budgets) or output is not None
    recorded = [each.kind for each in budgets if each.kind in (Kind.LEAKS, Kind.NO_ALLOC_IN)]
    if recorded or output is not None:
        what = f"--{recorded[0]}" if recorded else "-o"
        raise HeapwrightError(f"{what} needs a recording", "leave out --no-sites")
    return False


def _budget(kind: Kind, unit: Unit, text: str) -> Budget:
    """The error of a wrong value names the option."""
    try:
        limit = parse_allowance(text) if unit is Unit.BYTES else parse_count(text)
    except typer.BadParameter as error:
        raise typer.BadParameter(error.message, param_hint=f"--{kind}") from error
    return Budget(kind=kind, unit=unit, limit=limit)


def _leaks(text: str) -> Budget:
    """A plain number counts blocks."""
    if text.strip()[-1:].isalpha():
        return _budget(Kind.LEAKS, Unit.BYTES, text)
    return _budget(Kind.LEAKS, Unit.BLOCKS, text)


def _function(name: str) -> Budget:
    if not name.strip("* \t"):
        raise typer.BadParameter(f"--no-alloc-in {name!r} names no function")
    return Budget(kind=Kind.NO_ALLOC_IN, unit=Unit.ALLOCATIONS, limit=0, function=name)
