# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Makes one run of a study: hooks, a server, the command, simulators, responses.

Without a server, the command runs under the treatment. With a server, the server runs under the
treatment and the command is its client. Then time is that of the client; memory, processor time,
faults and the proof are those of the server. If a response is a figure of a profile, the program
runs once more and is recorded. The first part that ends badly is the outcome of the run and is
named.
"""

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from heapwright.artefacts.profile.document import Profile
from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.study.model import PARSED, Study
from heapwright.artefacts.study.model import Server as ServerHook
from heapwright.artefacts.study.template import BLOCK, OF_RUN, places
from heapwright.artefacts.study_results.runs import StudyRun
from heapwright.base.scratch import Scratch
from heapwright.experiment.blocks import Assignment
from heapwright.experiment.interposition import Interposition
from heapwright.experiment.measurement import (
    Conditions,
    Specs,
    command_of,
    end_of,
    figures_of,
    prove,
    text_in,
)
from heapwright.experiment.outcome import Classified, classify
from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.program.session import Prepared, Session
from heapwright.experiment.responses import Left, read_responses
from heapwright.experiment.runner import RawRun, run_once
from heapwright.experiment.server import OF_SERVER, Server
from heapwright.experiment.simulation import TOOLS, Tool, counts_in, words_under
from heapwright.experiment.study_hooks import Filling, StudyHooks
from heapwright.experiment.treatments import Treatment

SERIES_POINTS = 100
REPORT, OUTPUT = "report", "output"
"""Files of a run's folder: what the measuring command wrote, what the command printed."""
PROFILE = "profile"
SIMULATED_FACTOR = 100.0
"""Limit of a simulated run, as a multiple of the limit of a real one."""
SURE = Interposition(True, 0.0)
UNPROVEN = Interposition(False, 0.0)
FINE = Classified(Outcome.OK)


@dataclass(frozen=True, slots=True)
class StudyProgram:
    """A program that is run for a treatment, and what it is run in."""

    prepared: Prepared
    environment: Mapping[str, str]
    first: Path | None


@dataclass(frozen=True, slots=True)
class Characterised:
    """How a recorded run ended, and its profile; None: no profile."""

    named: Classified
    profile: Profile | None = None


Characterise = Callable[[StudyProgram, Treatment, float | None], Characterised]
"""Records and profiles a program under a treatment, within a limit in seconds."""


@dataclass(frozen=True, slots=True)
class Job:
    """The shared parts of all runs of a study on a host."""

    study: Study
    conditions: Conditions
    folder: Path
    """Of the study file."""
    host: str
    programs: Mapping[str, StudyProgram] = field(default_factory=dict)
    """Of each treatment, by its level, if they are of a program."""
    characterise: Characterise | None = None
    """None: nothing is recorded."""


@dataclass(slots=True)
class _Taking:
    """The results of a run so far."""

    named: Classified = FINE
    proof: Interposition = UNPROVEN
    figures: dict[str, Any] = field(default_factory=dict)
    stdout: str = ""
    stderr: str = ""
    report: str | None = None
    counts: dict[str, Mapping[str, float]] = field(default_factory=dict)
    program: dict[str, float] = field(default_factory=dict)
    profile: Profile | None = None

    @property
    def good(self) -> bool:
        return self.named.outcome is Outcome.OK

    def worsen(self, named: Classified | None) -> None:
        """The first bad end is that of the run."""
        if named is not None and self.good:
            self.named = named


class StudyMeasurement:
    """Makes the runs of a study. Pass `execute` to the engine."""

    def __init__(self, job: Job, paths: PreloadPaths) -> None:
        self._job = job
        self._study = job.study
        self._specs = Specs(job.conditions, paths)
        self._paths = paths
        self._sessions: dict[str, Session] = {}
        self._filling = Filling(job.study, job.folder)
        environment, cwd = job.conditions.environment, job.conditions.cwd
        self._hooks = StudyHooks(job.study, self._filling, environment, cwd)
        self._parent = Path(tempfile.gettempdir())
        origins = [response.origin for response in job.study.responses.values()]
        self._tools = [tool for tool in TOOLS if tool in origins]
        own = (*job.study.command, *job.study.arguments)
        self._numbered = any(place.text == BLOCK for word in own for place in places(word))
        self._recorded = PROFILE in origins
        self._measured = not set(origins) <= {*self._tools, PROFILE}
        self._reads = job.conditions.reader is not None or any(each in PARSED for each in origins)

    def execute(self, assignment: Assignment) -> StudyRun:
        """One run. Raises HeapwrightError if it cannot be made, KeyboardInterrupt on Ctrl-C."""
        treatment = assignment.treatment
        taking = _Taking()
        with self._hooks.around(treatment), self._folder() as folder:
            began = time.time()
            if self._measured:
                self._measure(assignment, folder, taking)
            if self._recorded and taking.good:
                self._characterise(assignment, taking)
            for tool in self._tools:
                if taking.good:
                    self._simulate(tool, assignment, folder / tool, taking)
        responses = self._responses(taking)
        series = taking.figures.get("rss_series", [])
        return StudyRun.model_validate(
            {
                **taking.figures,
                **end_of(assignment, taking.named, taking.proof),
                "rss_series": thinned(series, SERIES_POINTS),
                "host": self._job.host,
                "began": began,
                "responses": responses,
            }
        )

    def _folder(self) -> AbstractContextManager[Path]:
        """The folder for files of a run; most studies of time and memory need none."""
        if self._reads or self._tools or self._study.measure is not None:
            return Scratch(self._parent)
        return nullcontext(self._parent)

    def close(self) -> None:
        """Finish: there are no further runs."""
        self._hooks.leave_allocator()

    def _measure(self, assignment: Assignment, folder: Path, taking: _Taking) -> None:
        hook = self._study.hooks.server
        if self._study.program is not None:
            self._program(assignment, taking)
            return
        if hook is None:
            self._command(assignment, folder, taking, under=True)
            return
        with ExitStack() as stack:
            server = stack.enter_context(self._server(hook, assignment.treatment))
            taking.worsen(server.await_ready())
            if taking.good:
                self._command(assignment, folder, taking, under=not hook.preload)
                raw, early = server.stop()
                self._take_server(raw, early, assignment.treatment, taking, preload=hook.preload)

    def _program(self, assignment: Assignment, taking: _Taking) -> None:
        """Run the program of the treatment as its file says."""
        level = assignment.treatment.level
        if level not in self._sessions:
            found = self._job.programs[level]
            conditions = replace(self._job.conditions, environment=found.environment)
            specs = Specs(conditions, self._paths, found.first)
            self._sessions[level] = Session(found.prepared, specs)
        taken = self._sessions[level].take(assignment.treatment, assignment.timeout_s)
        taking.named, taking.proof, taking.figures = taken.named, taken.proof, taken.figures
        taking.stdout, taking.stderr = taken.stdout, taken.stderr
        taking.program = taken.responses

    def _characterise(self, assignment: Assignment, taking: _Taking) -> None:
        """Record the program of the treatment, and profile that."""
        treatment = assignment.treatment
        assert self._job.characterise is not None
        found = self._job.programs[treatment.level]
        taken = self._job.characterise(found, treatment, assignment.timeout_s)
        taking.worsen(taken.named)
        taking.profile = taken.profile

    def _server(self, hook: ServerHook, treatment: Treatment) -> Server:
        words = self._filling.words(hook.command, treatment)
        if hook.preload:
            words = (*treatment.prefix, *words)
        spec = self._specs.of(treatment, timeout_s=None, words=words, under=hook.preload)
        spec = replace(spec, grace_s=float(hook.timeout_s))
        question = self._filling.question(hook.ready, treatment)
        return Server(spec, question, float(hook.timeout_s), self._job.conditions.environment)

    def _take_server(
        self,
        raw: RawRun,
        early: Classified | None,
        treatment: Treatment,
        taking: _Taking,
        *,
        preload: bool,
    ) -> None:
        """The usage of a server is that of the run, if it was under the treatment."""
        if early is not None:
            taking.named = early
        if not preload:
            return
        taking.figures |= {name: getattr(raw, name) for name in OF_SERVER}
        taking.proof = prove(raw, treatment)
        if not taking.proof.effective:
            taking.worsen(Classified(Outcome.NOT_INTERPOSED, f"the server: {taking.proof.detail}"))

    def _command(
        self, assignment: Assignment, folder: Path, taking: _Taking, *, under: bool
    ) -> None:
        """Run the command, or the one that measures it."""
        treatment = assignment.treatment
        words = self._words(assignment)
        if self._study.measure is not None:
            template = self._filling.words(self._study.measure.command, treatment)
            words = measuring(template, words, folder / REPORT)
        spec = self._specs.of(treatment, timeout_s=assignment.timeout_s, words=words, under=under)
        raw = run_once(spec.printing_to(folder / OUTPUT) if self._reads else spec)
        if under:
            taking.proof = prove(raw, treatment)
        taking.worsen(self._named(raw, taking.proof if under else SURE))
        taking.figures = figures_of(raw)
        if self._reads:
            report = folder / REPORT
            taking.stdout, taking.stderr = text_in(folder / OUTPUT), raw.stderr_tail
            taking.report = text_in(report) if report.exists() else None

    def _simulate(self, tool: Tool, assignment: Assignment, folder: Path, taking: _Taking) -> None:
        """Run the command once more, under a simulator."""
        treatment = assignment.treatment
        folder.mkdir()
        words = words_under(tool, self._words(assignment), folder)
        limit = assignment.timeout_s
        spec = self._specs.of(
            treatment,
            timeout_s=None if limit is None else SIMULATED_FACTOR * limit,
            words=words,
        )
        raw = run_once(spec)
        proof = prove(raw, treatment)
        named = self._named(raw, proof)
        if not taking.figures:
            taking.figures, taking.proof = figures_of(raw), proof
        if named.outcome is not Outcome.OK:
            taking.worsen(Classified(named.outcome, f"under {tool}: {named.detail}"))
            return
        try:
            taking.counts[tool] = counts_in(folder)
        except ValueError as error:
            taking.worsen(Classified(Outcome.FAILED, str(error)))

    def _words(self, assignment: Assignment) -> tuple[str, ...]:
        """The command of the treatment, with the number of the block."""
        words = command_of(assignment.treatment, self._job.conditions)
        return in_block(words, assignment.block) if self._numbered else words

    def _named(self, raw: RawRun, proof: Interposition) -> Classified:
        return classify(raw, proof, frozenset({self._job.conditions.expect_exit}))

    def _responses(self, taking: _Taking) -> dict[str, float]:
        """The measurements of a good run. An unreadable one makes the run a failed one."""
        reader = self._job.conditions.reader
        if not taking.good:
            return {}
        try:
            if reader is not None and self._measured:
                taking.figures |= reader(taking.stdout)
            left = Left(
                taking.figures,
                taking.stdout,
                taking.stderr,
                taking.report,
                taking.counts,
                taking.program,
                taking.profile,
            )
            return read_responses(self._study.responses, left)
        except ValueError as error:
            taking.named = Classified(Outcome.FAILED, str(error))
            return {}


def in_block(words: Sequence[str], block: int) -> tuple[str, ...]:
    """The words of a command, with the number of the block."""
    return tuple(word.replace(OF_RUN[BLOCK], str(block)) for word in words)


def shown(words: Sequence[str]) -> tuple[str, ...]:
    """The words of a command of every block, with the place as the study file has it."""
    return tuple(word.replace(OF_RUN[BLOCK], f"{{{BLOCK}}}") for word in words)


def measuring(template: Sequence[str], command: Sequence[str], report: Path) -> tuple[str, ...]:
    """The command that measures another."""
    words: list[str] = []
    for word in template:
        if word == "{command}":
            words += command
        else:
            words.append(word.replace("{report}", str(report)))
    return tuple(words)


def thinned(series: Sequence[Sequence[float]], most: int) -> list[tuple[float, int]]:
    """A series with a limited number of points: the largest of each stretch, and the last point."""
    points = [(round(float(at), 6), int(size)) for at, size in series]
    if len(points) <= most:
        return points
    body, last = points[:-1], points[-1]
    edges = [round(place * len(body) / (most - 1)) for place in range(most)]
    largest = [max(body[begin:end], key=lambda point: point[1]) for begin, end in pairwise(edges)]
    return [*largest, last]
