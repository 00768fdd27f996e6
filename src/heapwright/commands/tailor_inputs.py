# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Checks, records and times the inputs of `heapwright tailor`.

A program is recorded as by `record --program --follow-children` and run as by `compare --program`.
Of a server, the server alone has the recorder or the allocator, and its clients run beside it.
"""

import os
from pathlib import Path
from time import monotonic

from heapwright.artefacts.program.request import ProgramRequest
from heapwright.artefacts.run.measured import Outcome as RunOutcome
from heapwright.artefacts.run.provenance import Allocator, Kind
from heapwright.artefacts.tailoring.inputs import Input
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.base.scratch import Scratch
from heapwright.commands.program_setup import open_asked, refuse_own_allocator
from heapwright.commands.record import record_command, record_program
from heapwright.commands.setup import check
from heapwright.commands.tuning_load import opened
from heapwright.experiment.blocks import Assignment
from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.program.needs import require
from heapwright.experiment.program.template_values import reaching_servers
from heapwright.experiment.treatments import Treatment
from heapwright.record.recorder import HowToRecord

GLIBC = Allocator(name="glibc", kind=Kind.SYSTEM)
WHOLE = HowToRecord(follow=True, stacks=True)
"""Drivers and servers start the process that does the work. The stacks name the call sites."""


def check_input(each: Input) -> None:
    """Raises HeapwrightError for an input that cannot be run here."""
    environment = dict(os.environ)
    if each.program is not None:
        file = open_asked(each.program)
        refuse_own_allocator(file.program, ["a tailored allocator"])
        require(file, reaching_servers(environment))
    elif each.trace is None:
        check(each.words, Path.cwd(), environment, shell=False)


def record_input(each: Input, trace: Path) -> tuple[str, ...]:
    """Record a command or a program; return the notes for the user. Raises HeapwrightError for one
    that fails, and KeyboardInterrupt."""
    if each.program is not None:
        outcome, notes = record_program(each.program, trace, WHOLE)
        failed = outcome.failed  # a server ends by a signal
    else:
        outcome, notes = record_command(each.words, trace, WHOLE, stdout=Path(os.devnull))
        failed = bool(outcome.failed or outcome.exit_status or outcome.signal)
    if outcome.asked_to_end:
        raise KeyboardInterrupt
    if failed:
        raise HeapwrightError(
            f"nothing can be tailored: {each.text} failed while it was recorded",
            "; ".join(notes),
            exit_code=ExitCode.NOTHING_COMPARED,
        )
    return notes


def time_input(each: Input) -> float:
    """The wall time of one run, with the start and the end of a server. Raises HeapwrightError for
    a run that fails, and KeyboardInterrupt."""
    begun = monotonic()
    if each.program is None:
        with Scratch() as folder:
            outcome, notes = record_command(
                each.words, folder / "trace", recorded=False, stdout=Path(os.devnull)
            )
        if outcome.asked_to_end:
            raise KeyboardInterrupt
        failed = bool(outcome.failed or outcome.exit_status or outcome.signal)
        why = "; ".join(notes)
    else:
        with (
            PreloadPaths() as paths,
            opened((), each.program, GLIBC.name, paths, dict(os.environ), None) as load,
        ):
            begun = monotonic()  # after its data is made
            run = load.execute(Assignment(Treatment(GLIBC), 1, 1, warmup=True, timeout_s=None))
        failed, why = run.outcome is not RunOutcome.OK, run.detail
    if failed:
        raise HeapwrightError(
            f"nothing can be judged: {each.text} failed", why, exit_code=ExitCode.NOTHING_COMPARED
        )
    return monotonic() - begun


def sha256_of(program: ProgramRequest) -> str:
    """Of the file of a program and its parts."""
    return open_asked(program).sha256
