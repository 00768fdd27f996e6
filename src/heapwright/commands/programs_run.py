# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright programs run`: one run of a program under one allocator, and its figures."""

import json
import os
from collections.abc import Mapping
from dataclasses import replace

import typer

from heapwright.artefacts.program.model import Program
from heapwright.artefacts.program.request import ProgramRequest
from heapwright.artefacts.run.measured import Run
from heapwright.commands.program_setup import (
    ProgramSetup,
    notes_on_clients,
    open_asked,
    refuse_own_allocator,
    set_up_file,
)
from heapwright.commands.setup import select_one
from heapwright.commands.text import printing
from heapwright.experiment.blocks import Assignment
from heapwright.experiment.measurement import end_of
from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.program.session import Session
from heapwright.experiment.treatments import Treatment
from heapwright.report.console import make_console
from heapwright.report.programs import print_run


def run_program(
    asked: ProgramRequest, allocator: str, timeout_s: float | None, *, as_json: bool
) -> bool:
    """Run the program; return whether it ended well. Raises HeapwrightError for a refused
    request."""
    environment = dict(os.environ)
    with PreloadPaths() as paths:
        selection = select_one(allocator, environment, paths)
        file = open_asked(asked)
        refuse_own_allocator(file.program, [allocator])
        setup = set_up_file(file, environment)
        session = Session(setup.prepared, setup.specs(paths))
        assignment = Assignment(
            _treatment(selection.treatments[0], file.program),
            block=1,
            position=1,
            warmup=False,
            timeout_s=timeout_s,
        )
        taken = session.take(assignment.treatment, timeout_s)
    run = Run.model_validate(
        {
            **taken.figures,
            **end_of(assignment, taken.named, taken.proof),
            "measures": session.measures(taken),
        }
    )
    notes = [*setup.notes, *selection.notes, *notes_on_clients([run], setup)]
    with printing():
        if as_json:
            typer.echo(_document(setup, run, taken.responses))
        else:
            print_run(make_console(), setup.file.program, run, taken.responses, notes)
    return taken.good


def _treatment(chosen: Treatment, program: Program) -> Treatment:
    """A program with a built-in allocator cannot be proven to use another one."""
    if not program.own_allocator:
        return chosen
    named = chosen.allocator.model_copy(update={"name": program.own_allocator, "path": None})
    return replace(chosen, allocator=named, proven=False)


def _document(setup: ProgramSetup, run: Run, responses: Mapping[str, float]) -> str:
    document = {
        "program": setup.subject.model_dump(mode="json"),
        "command": setup.shown,
        "responses": dict(responses),
        "run": run.model_dump(mode="json"),
    }
    return json.dumps(document, indent=2, ensure_ascii=False)
