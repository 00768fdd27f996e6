# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright workloads`: the field's named workloads, as programs to run and to compare with."""

from typing import Annotated

import typer

from heapwright import commands
from heapwright.cli import completion, options

HELP = """\
List the named workloads, show one of them, or print the path of its program.

A workload is a program that the literature measures allocators with.

Examples:
  heapwright workloads
  heapwright workloads show larson
  heapwright compare -a glibc,hoard -- $(heapwright workloads path larson)
"""

app = options.application(
    name="workloads",
    help=HELP,
)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Name = Annotated[
    str, typer.Argument(help="A name of the list.", autocompletion=completion.workloads)
]


@app.callback(invoke_without_command=True)
def workloads(context: typer.Context, as_json: AsJson = False) -> None:
    """List the workloads unless a subcommand is named."""
    if context.invoked_subcommand is not None:
        return
    commands.workloads.list_workloads(as_json=as_json)


@app.command()
def show(name: Name, as_json: AsJson = False) -> None:
    """Show a workload: its work, its parameters, and their published values.

    Examples:
      heapwright workloads show larson
      heapwright workloads show uma-test --json
    """
    commands.workloads.show_workload(name, as_json=as_json)


@app.command()
def path(name: Name) -> None:
    """Print the path of a workload's program.

    Examples:
      heapwright workloads path larson
      heapwright compare -a glibc,hoard -- $(heapwright workloads path larson)
    """
    commands.workloads.print_path(name)
