# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Prepares a study for the engine: finds allocators, decodes traces, checks commands.

All refusals come here, before the first run and before the folder is made.
"""

import gc
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from heapwright.artefacts.run.provenance import (
    Allocator,
    Environment,
    Kind,
    inherited_settings,
    read_environment,
)
from heapwright.artefacts.run.replay import TOUCH, Surroundings, Touch
from heapwright.artefacts.study.file import StudyFile
from heapwright.artefacts.study.model import Response
from heapwright.artefacts.study.treatment import StudyTreatment
from heapwright.artefacts.study_results.runs import (
    Cell,
    Dropped,
    Excluded,
    Factor,
    Measured,
    StudyDesign,
)
from heapwright.artefacts.trace.processes import processes_of, told
from heapwright.base import native
from heapwright.base.errors import HeapwrightError
from heapwright.base.processors import format_cpus
from heapwright.base.scratch import Scratch
from heapwright.commands.setup import discovering
from heapwright.commands.study import notes_of
from heapwright.commands.study_machine import look_up
from heapwright.commands.study_programs import StudyPrograms, programs_of
from heapwright.commands.study_traces import characterise
from heapwright.experiment.command_check import check_command, machine_of
from heapwright.experiment.measurement import Conditions
from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.simulation import TOOLS, refuse_without_valgrind
from heapwright.experiment.study_hooks import Filling
from heapwright.experiment.study_measurement import Job, shown
from heapwright.experiment.treatments import (
    TUNABLES,
    Treatment,
    explain_inherited,
    merge_tunables,
)
from heapwright.replay.output import reader_of
from heapwright.replay.prepare import prepare, refuse_beyond_memory, run_words
from heapwright.study.design import DesignedStudy, build_design
from heapwright.study.treatments import SYNTH
from heapwright.synth import program

NOTHING = Allocator(name="", kind=Kind.SYSTEM, caption="the command's own allocator")


@dataclass(frozen=True, slots=True)
class Setup:
    """A study, ready to be run on this machine."""

    file: StudyFile
    design: StudyDesign
    treatments: tuple[Treatment, ...]
    job: Job
    machine: Environment
    notes: tuple[str, ...]
    """Notes: the parts left out with their reasons, and other facts."""


@contextmanager
def set_up(file: StudyFile, seed: int, paths: PreloadPaths) -> Iterator[Setup]:
    """Check a study on this machine. Traces are decoded into temporary files.

    Raises HeapwrightError for a refused request.
    """
    environment = dict(os.environ)
    with discovering(environment, paths) as discovery:
        found = look_up(file, discovery)
        designed = build_design(file, found.machine, seed)
    _refuse_impossible(file)
    programs = programs_of(file, designed.treatments, environment)
    inherited = explain_inherited(inherited_settings(environment))
    allocators = _used(designed.treatments, found.allocators)
    machine = read_environment(list(allocators.values()), environment)
    touch = file.study.touch or TOUCH
    surroundings = Surroundings(gaps=file.study.gaps, visits=file.study.visits)
    with _Traces(seed, touch, surroundings, file.study.process) as traces:
        treatments = tuple(
            _treatment(each, allocators, traces, environment, programs.command(each.id))
            for each in designed.treatments
        )
        conditions = Conditions(
            command=(),
            environment=environment,
            cwd=Path.cwd(),
            expect_exit=file.study.expect_exit,
            reader=reader_of(touch) if file.study.trace is not None else None,
        )
        warnings = _check_commands(file, treatments, environment)
        gc.freeze()  # what is there by now stays: no run should wait while it is looked through
        yield Setup(
            file=file,
            design=design_of(file, designed, treatments, seed, programs),
            treatments=treatments,
            job=Job(
                file.study, conditions, file.folder, machine.host, programs.prepared, characterise
            ),
            machine=machine,
            notes=(
                *notes_of(designed),
                *programs.notes,
                *traces.notes,
                *warnings,
                *_doubts(machine),
                *inherited,
            ),
        )


def _refuse_impossible(file: StudyFile) -> None:
    origins = {response.origin for response in file.study.responses.values()}
    simulated = [tool for tool in TOOLS if tool in origins]
    if not simulated:
        return
    refuse_without_valgrind()
    if file.study.hooks.server is not None or file.study.program is not None:
        raise HeapwrightError(
            f"{simulated[0]} counts a command, and this study's server or program does the work",
            "count the server in a study of its own",
        )


def _doubts(machine: Environment) -> list[str]:
    """Warnings of the probe about existing allocators."""
    return [f"{each.name}: {each.reason}" for each in machine.allocators if each.reason]


def _used(
    treatments: Sequence[StudyTreatment], found: Mapping[str, Allocator]
) -> dict[str, Allocator]:
    """The allocators of the treatments, by their names there."""
    names = dict.fromkeys(each.allocator for each in treatments if each.allocator is not None)
    return {name: found[name] for name in names if name in found}


def _treatment(
    each: StudyTreatment,
    allocators: Mapping[str, Allocator],
    traces: "_Traces",
    inherited: Mapping[str, str],
    command: tuple[str, ...],
) -> Treatment:
    """What the engine runs for a treatment of the study."""
    allocator = allocators.get(each.allocator or "", NOTHING)
    if each.allocator is not None and allocator is NOTHING:
        allocator = Allocator(name=each.allocator, kind=Kind.FILE, caption="the program's own")
    environment = dict(allocator.environment) | each.environment
    if TUNABLES in environment:
        own = merge_tunables(allocator.environment.get(TUNABLES, ""), environment[TUNABLES])
        environment[TUNABLES] = merge_tunables(inherited.get(TUNABLES, ""), own)
    return Treatment(
        allocator=allocator,
        level=each.id,
        environment=environment,
        command=command or each.command or traces.command(each.trace or ""),
        prefix=each.prefix,
        cpus=None if each.cpus is None else _first_cpus(each.cpus),
        stdin=None if each.stdin is None else Path(each.stdin),
        cwd=None if each.cwd is None else Path(each.cwd),
        levels=each.levels,
        proven=each.preload and each.allocator is not None,
    )


def _first_cpus(count: int) -> str:
    """The first processors that this process may use, in the requested number."""
    return format_cpus(set(sorted(os.sched_getaffinity(0))[:count]))


class _Traces:
    """Decodes the traces that are replayed, each once; a context manager."""

    def __init__(
        self, seed: int, touch: Touch, surroundings: Surroundings, process: int | None
    ) -> None:
        self._seed = seed
        self._touch = touch
        self._surroundings = surroundings
        self._process = process
        self._folder = Scratch()
        self._commands: dict[str, tuple[str, ...]] = {}
        self.notes: list[str] = []
        """Which process of a trace is replayed, where it has several."""

    def command(self, trace: str) -> tuple[str, ...]:
        """The command that replays a trace. Raises HeapwrightError."""
        if trace not in self._commands:
            plan = self._folder.path / f"plan-{len(self._commands)}"
            if trace.startswith(SYNTH):
                made = self._folder.path / "trace"
                name, events = _recreation(trace)
                program.recreate(name, made, events=events, seed=self._seed)
                found = prepare(made, plan, surroundings=self._surroundings)
                made.unlink()
            else:
                found = prepare(
                    Path(trace), plan, process=self._process, surroundings=self._surroundings
                )
                if note := told(processes_of(Path(trace)), found.process, "process = NUMBER"):
                    self.notes.append(f"{trace}: {note}")
            refuse_beyond_memory(Path(trace), found, self._touch)
            self._commands[trace] = run_words(plan, touch=self._touch)
        return self._commands[trace]

    def __enter__(self) -> "_Traces":
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.remove()


def _recreation(trace: str) -> tuple[str, int | None]:
    """The name in `synth:NAME` or `synth:NAME:EVENTS`, and its number of events if one is given."""
    name, colon, events = trace.removeprefix(SYNTH).partition(":")
    if colon and not (events.isdecimal() and len(events) < 20 and 0 < int(events) <= sys.maxsize):
        raise HeapwrightError(
            f"{trace}: {events!r} is no number of events", f"for example {SYNTH}{name}:400000"
        )
    return name, int(events) if colon else None


def _check_commands(
    file: StudyFile, treatments: Sequence[Treatment], environment: Mapping[str, str]
) -> tuple[str, ...]:
    """Refuse a command, or its server, that no preload reaches. Each executable is checked once.
    A program with a file is checked when it is set up."""
    if file.study.program is not None:
        return ()
    server = file.study.hooks.server
    filling = Filling(file.study, file.folder)
    machine = machine_of(native.witness())
    seen: dict[tuple[str, Path], tuple[str, ...]] = {}
    for treatment in treatments:
        command = treatment.command
        if server is not None and server.preload:
            command = filling.words(server.command, treatment)
        words = (*treatment.prefix, *command)
        place = (words[0], treatment.cwd or Path.cwd())
        if treatment.proven and place not in seen:
            checked = check_command(words, machine=machine, cwd=place[1], environment=environment)
            seen[place] = checked.warnings
    return tuple(dict.fromkeys(warning for each in seen.values() for warning in each))


def design_of(
    file: StudyFile,
    designed: DesignedStudy,
    treatments: Sequence[Treatment],
    seed: int,
    programs: StudyPrograms,
) -> StudyDesign:
    """The artefact."""
    study = file.study
    return StudyDesign(
        study=study.name,
        title=study.title,
        sha256=file.sha256,
        folder=str(file.folder),
        scale=file.scale or "",
        seed=seed,
        blocks=study.design.blocks - study.design.discard,
        discard=study.design.discard,
        factors=tuple(_factor(file, designed, name) for name in study.factors),
        treatments=tuple(_cell(treatment) for treatment in treatments),
        responses=tuple(
            programs.read(name, each, _measured(name, each))
            for name, each in study.responses.items()
        ),
        baseline=designed.baseline or "",
        dropped=tuple(
            Dropped(factor=each.factor, level=each.level, because=each.because)
            for each in designed.dropped
        ),
        excluded=tuple(
            Excluded(require=each.require, because=each.because, count=each.count)
            for each in designed.excluded
        ),
        share=designed.extent.treatments / max(designed.extent.allowed, 1),
        programs=programs.hashes,
        options=study.analysis.model_dump(mode="json"),
    )


def _measured(name: str, response: Response) -> Measured:
    return Measured(
        name=name,
        title=response.title,
        unit=response.unit_text,
        better=response.better,
        source=response.origin,
        simulated=response.origin in TOOLS,
        scale=response.scale,
    )


def _factor(file: StudyFile, designed: DesignedStudy, name: str) -> Factor:
    factor = file.study.factors[name]
    levels = designed.levels[name]
    numbers = [level.number for level in levels]
    values = tuple(number for number in numbers if number is not None)
    return Factor(
        name=name,
        levels=tuple(level.name for level in levels),
        values=values if factor.is_quantitative and len(values) == len(levels) else (),
        unit=factor.unit,
        role=file.study.role(name),
    )


def _cell(treatment: Treatment) -> Cell:
    return Cell(
        id=treatment.level,
        levels=dict(treatment.levels),
        allocator=treatment.allocator.name,
        command=shown(treatment.command),
        environment=dict(treatment.environment),
        prefix=treatment.prefix,
        cpus=treatment.cpus or "",
    )


def only_planned(setup: Setup, design: StudyDesign) -> Setup:
    """The set-up of an earlier study: the treatments of its design that can run here."""
    planned = {cell.id for cell in design.treatments}
    left = tuple(each for each in setup.treatments if each.level in planned)
    gone = len(planned) - len(left)
    notes = (
        [f"{gone} of its {len(planned)} treatments cannot be run here and are left out"]
        if gone
        else []
    )
    return replace(setup, design=design, treatments=left, notes=(*setup.notes, *notes))
