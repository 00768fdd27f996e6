# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The work of `heapwright workloads`: the list, one workload, and the path of its program."""

import json

import typer

from heapwright.artefacts.workload.library import workload_path
from heapwright.commands.text import printing
from heapwright.experiment.workloads import describe, describe_all
from heapwright.report.console import make_console
from heapwright.report.workloads import print_workload, print_workloads


def list_workloads(*, as_json: bool) -> None:
    """Print all of them."""
    found = describe_all()
    with printing():
        if as_json:
            document = [each.model_dump(mode="json") for each in found]
            typer.echo(json.dumps(document, indent=2, ensure_ascii=False))
        else:
            print_workloads(make_console(), found)


def show_workload(name: str, *, as_json: bool) -> None:
    """Print one. Raises HeapwrightError if there is none of that name."""
    found = describe(name)
    with printing():
        if as_json:
            typer.echo(json.dumps(found.model_dump(mode="json"), indent=2, ensure_ascii=False))
        else:
            print_workload(make_console(), found, str(workload_path(name)))


def print_path(name: str) -> None:
    """Print where its program is. Raises HeapwrightError if there is none of that name."""
    found = workload_path(name)
    with printing():
        typer.echo(str(found))
