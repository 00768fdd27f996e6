# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright workloads`: the field's named workloads, as programs to run and to compare with."""

import json
from typing import Annotated

import typer

app = typer.Typer(
    help="List the named workloads, show one of them, or say where its program is.",
    pretty_exceptions_enable=False,
)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Name = Annotated[str, typer.Argument(help="A name of the list.")]


@app.callback(invoke_without_command=True)
def workloads(context: typer.Context, as_json: AsJson = False) -> None:
    """List the named workloads: programs that the field measures allocators with. Compare with one
    by its path: heapwright compare -a glibc,hoard -- $(heapwright workloads path larson)"""
    if context.invoked_subcommand is not None:
        return
    from heapwright.cli.text import printing  # noqa: PLC0415
    from heapwright.experiment.workloads import describe_all  # noqa: PLC0415
    from heapwright.report.console import make_console  # noqa: PLC0415
    from heapwright.report.workloads import print_workloads  # noqa: PLC0415

    found = describe_all()
    with printing():
        if as_json:
            document = [each.model_dump(mode="json") for each in found]
            typer.echo(json.dumps(document, indent=2, ensure_ascii=False))
        else:
            print_workloads(make_console(), found)


@app.command()
def show(name: Name, as_json: AsJson = False) -> None:
    """Show one workload: what it does, its parameters, and those that were published."""
    from heapwright.artefacts.workload.library import workload_path  # noqa: PLC0415
    from heapwright.cli.text import printing  # noqa: PLC0415
    from heapwright.experiment.workloads import describe  # noqa: PLC0415
    from heapwright.report.console import make_console  # noqa: PLC0415
    from heapwright.report.workloads import print_workload  # noqa: PLC0415

    found = describe(name)
    with printing():
        if as_json:
            typer.echo(json.dumps(found.model_dump(mode="json"), indent=2, ensure_ascii=False))
        else:
            print_workload(make_console(), found, str(workload_path(name)))


@app.command()
def path(name: Name) -> None:
    """Print the path of a workload's program, and nothing else."""
    from heapwright.artefacts.workload.library import workload_path  # noqa: PLC0415
    from heapwright.cli.text import printing  # noqa: PLC0415

    found = workload_path(name)
    with printing():
        typer.echo(str(found))
