# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright workloads`: the field's named workloads, as programs to run and to compare with."""

from typing import Annotated

import typer

from heapwright import commands
from heapwright.cli import options

app = options.application(
    name="workloads",
    help="List the named workloads, show one of them, or say where its program is.",
)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Name = Annotated[str, typer.Argument(help="A name of the list.")]


@app.callback(invoke_without_command=True)
def workloads(context: typer.Context, as_json: AsJson = False) -> None:
    """List the named workloads: programs that the field measures allocators with. Compare with one
    by its path: heapwright compare -a glibc,hoard -- $(heapwright workloads path larson)"""
    if context.invoked_subcommand is not None:
        return
    commands.workloads.list_workloads(as_json=as_json)


@app.command()
def show(name: Name, as_json: AsJson = False) -> None:
    """Show one workload: what it does, its parameters, and those that were published."""
    commands.workloads.show_workload(name, as_json=as_json)


@app.command()
def path(name: Name) -> None:
    """Print the path of a workload's program, and nothing else."""
    commands.workloads.print_path(name)
