# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What a search runs: a command, a program of the catalogue, or the replay of a trace."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from heapwright.artefacts.program.model import ProgramSubject
from heapwright.artefacts.program.request import ProgramRequest
from heapwright.artefacts.run.replay import TOUCH
from heapwright.artefacts.trace.processes import processes_of
from heapwright.base.paths import trace_in
from heapwright.base.scratch import Scratch
from heapwright.commands.program_setup import open_asked, refuse_own_allocator, set_up_file
from heapwright.commands.setup import check
from heapwright.experiment.comparison import Execute
from heapwright.experiment.measurement import Conditions, Measurement
from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.program.measurement import ProgramMeasurement
from heapwright.replay.output import reader_of
from heapwright.replay.prepare import prepare, refuse_beyond_memory, run_words


@dataclass(frozen=True, slots=True)
class Load:
    """What is run, and how."""

    command: tuple[str, ...]
    """For the user: the command itself, or the recorded one."""
    name: str
    """Of the program with its parameters, or of the trace; empty for a command."""
    execute: Execute
    own_time: bool
    """Its runs report their own time, which decides."""
    measures: tuple[str, ...] = ()
    """Further figures of its runs, the smaller the better."""
    is_replay: bool = False
    subject: ProgramSubject | None = None
    """The program of the catalogue."""


@contextmanager
def opened(
    words: tuple[str, ...],
    program: ProgramRequest | None,
    allocator: str,
    paths: PreloadPaths,
    environment: dict[str, str],
    cpus: str | None,
) -> Iterator[Load]:
    """The load of a search. Raises HeapwrightError for one that cannot be run."""
    if program is not None:
        file = open_asked(program)
        refuse_own_allocator(file.program, [allocator])
        setup = set_up_file(file, environment)
        named = " ".join([program.name, program.scale or "", *program.parameters]).strip()
        measurement = ProgramMeasurement(setup.prepared, setup.specs(paths, cpus))
        subject = setup.subject
        measures = tuple(each.measure for each in subject.figures)
        yield Load(
            setup.shown,
            named,
            measurement.execute,
            own_time=True,
            measures=measures,
            subject=subject,
        )
    elif (trace := trace_in(words)) is not None:
        with Scratch() as folder:
            yield _replay(trace, folder / "plan", paths, environment, cpus)
    else:
        check(words, Path.cwd(), environment, shell=False)
        conditions = Conditions(words, environment, Path.cwd(), cpus=cpus)
        yield Load(words, "", Measurement(conditions, paths).execute, own_time=False)


def _replay(
    trace: Path, plan: Path, paths: PreloadPaths, environment: dict[str, str], cpus: str | None
) -> Load:
    found = prepare(trace, plan)
    refuse_beyond_memory(trace, found, TOUCH)
    recorded = next(e.command for e in processes_of(trace) if e.process == found.process)
    conditions = Conditions(
        run_words(plan), environment, Path.cwd(), cpus=cpus, reader=reader_of(TOUCH)
    )
    name = f"trace {trace.absolute()}"
    execute = Measurement(conditions, paths).execute
    return Load(recorded, name, execute, own_time=True, is_replay=True)
