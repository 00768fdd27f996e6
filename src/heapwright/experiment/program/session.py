# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""One run of a program: a separate folder, a fresh copy of its changed data, and the program under
its treatment. A server is started for the run, awaited, loaded, driven by its client, and ended.

For a server, time is that of the client. Memory, processor time, faults and the proof are those of
the server. The client runs without a preload, and its processor time is recorded separately. A run
is good if every part ended well and every check holds. Otherwise the first failure is its outcome.
All processes and files of a run are removed, however it ends.
"""

import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from heapwright.artefacts.program.file import ProgramFile
from heapwright.artefacts.program.model import ProgramCheck, ProgramServer
from heapwright.artefacts.run.measured import Outcome
from heapwright.base.errors import HeapwrightError
from heapwright.base.scratch import Scratch
from heapwright.experiment.interposition import Interposition
from heapwright.experiment.measurement import Specs, figures_of, prove, text_in
from heapwright.experiment.outcome import Classified, classify
from heapwright.experiment.output_figures import number_in
from heapwright.experiment.program.service import environment_of, log_of, stopped
from heapwright.experiment.program.steps import failure, last_lines, run_step, shown
from heapwright.experiment.program.template_values import Binding
from heapwright.experiment.runner import RawRun, Running, RunSpec
from heapwright.experiment.server import OF_SERVER, Server
from heapwright.experiment.treatments import Treatment

LONGEST_S = 3600.0
"""Default limit of a run, because a hanging client must not stop heapwright."""
STEP_S = 600.0
LOOK_S = 0.2
"""Interval at which a server is checked while its client runs."""
WAKE_S = 5.0
"""Seconds for a client to notice that its server has ended."""
DYING_S = 1.0
"""Seconds for a server to end after its client failed. The end of the server is then the
outcome."""
SERVER_OUTPUT = "server"
FINE = Classified(Outcome.OK)
SURE = Interposition(True, 0.0)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A program with prepared data."""

    file: ProgramFile
    data: Path | None
    key: str = ""
    """Of the data."""


@dataclass(slots=True)
class SessionRun:
    """The result of a run."""

    named: Classified = FINE
    proof: Interposition = SURE
    figures: dict[str, Any] = field(default_factory=dict)
    """Fields of a run."""
    responses: dict[str, float] = field(default_factory=dict)
    """As they were read, by name."""
    stdout: str = ""
    stderr: str = ""
    log: str = ""

    @property
    def good(self) -> bool:
        return self.named.outcome is Outcome.OK

    def worsen(self, named: Classified | None) -> None:
        """The first bad end is that of the run."""
        if named is not None and named.outcome is not Outcome.OK and self.good:
            self.named = named


class Session:
    """Makes runs of a program."""

    def __init__(self, prepared: Prepared, specs: Specs) -> None:
        self._prepared = prepared
        self._program = prepared.file.program
        self._specs = specs

    def take(self, treatment: Treatment, timeout_s: float | None) -> SessionRun:
        """One run. Raises HeapwrightError if it cannot be made, KeyboardInterrupt on Ctrl-C."""
        with Scratch() as scratch:
            return RunOfProgram(self._prepared, self._specs, treatment, timeout_s, scratch).take()

    def measures(self, taken: SessionRun) -> dict[str, float]:
        """The compared figures; less is better in each."""
        found = {}
        for name, value in taken.responses.items():
            response = self._program.responses[name]
            if response.better == "lower":
                found[name] = value
            elif response.better == "higher" and value > 0:
                found[response.inverse] = 1 / value
        return found


class RunOfProgram:
    """A run in progress."""

    def __init__(
        self,
        prepared: Prepared,
        specs: Specs,
        treatment: Treatment,
        timeout_s: float | None,
        scratch: Path,
    ) -> None:
        self._program = prepared.file.program
        self._specs = specs
        self._treatment = treatment
        self._timeout_s = float(self._program.timeout_s or timeout_s or LONGEST_S)
        if timeout_s is not None:
            self._timeout_s = min(self._timeout_s, timeout_s)
        self.scratch = scratch
        self.run = scratch / "run"
        self.run.mkdir()
        self._data = prepared.data
        self.binding = Binding(prepared.file, self.run, prepared.data)
        base = specs.conditions.environment
        self.environment = environment_of(prepared.file, self.binding, self.run, base)
        self.cwd = self.run / self.binding.text(self._program.cwd)
        self.taken = SessionRun()
        self._unready = ""
        """The output of a server that never answered."""

    def take(self) -> SessionRun:
        self.prepare()
        if self._program.server is None:
            self._alone()
        else:
            self._served(self._program.server)
        self.judge()
        return self.taken

    def prepare(self) -> None:
        """Copy the data that the run changes, and run the steps before it."""
        for name in self._program.fresh:
            assert self._data is not None
            part = self.binding.text(name)
            _copy(self._data / part, self.run / part)
        for step in self._program.before:
            words = self.binding.step(step)
            done = run_step(words, self.environment, self.run, self.scratch / "said", STEP_S)
            if not done.good:
                raise failure(f"before a run of {self._program.name}", words, done, self.run)

    def _spec(self, words: tuple[str, ...], *, under: bool) -> RunSpec:
        spec = self._specs.of(self._treatment, timeout_s=self._timeout_s, words=words, under=under)
        environment = dict(self.environment)
        if under:
            environment |= self._treatment.environment
            if "LD_PRELOAD" in spec.environment:
                environment["LD_PRELOAD"] = spec.environment["LD_PRELOAD"]
        stdin = self._program.stdin
        return replace(
            spec,
            environment=environment,
            cwd=self.cwd,
            stdin=None if stdin is None else self.cwd / self.binding.text(stdin),
            stdout=self.scratch / "output",
        )

    def _alone(self) -> None:
        """The program itself is under the treatment."""
        words = (*self._treatment.prefix, *self.binding.words(self._program.command))
        with Running(self._spec(words, under=True)) as running:
            raw = running.finish()
        self.taken.proof = prove(raw, self._treatment)
        self._named(raw, self.taken.proof)
        self.ask()

    def _named(self, raw: RawRun, proof: Interposition) -> None:
        self.taken.stdout, self.taken.stderr = text_in(self.scratch / "output"), raw.stderr_tail
        self.taken.figures = figures_of(raw)
        self.taken.worsen(classify(raw, proof, frozenset({self._program.expect_exit})))

    def _served(self, served: ProgramServer) -> None:
        """The server is under the treatment, and the command is its client."""
        spec, question = self.spec_of(served), self.binding.question(served.ready)
        with Server(spec, question, float(served.timeout_s), self.environment) as server:
            self.await_ready(server, served)
            for step in served.load:
                self.load(self.binding.step(step))
            if self.taken.good:
                self.client(server.is_over, under=not served.preload)
            self.ask()
            if not self.taken.good:
                server.is_over(DYING_S)
            raw, end = stopped(server, served, self.binding, self.environment, self.scratch)
        self.read_log(served)
        self.taken.log = self.taken.log or raw.stderr_tail
        self.take_server(raw, end, preload=served.preload)

    def spec_of(self, served: ProgramServer) -> RunSpec:
        """The start of the server."""
        words = self.binding.words(served.command)
        if served.preload:
            words = (*self._treatment.prefix, *words)
        return replace(
            self._spec(words, under=served.preload),
            timeout_s=None,
            grace_s=float(served.timeout_s),
            stdin=None,
            stdout=self.scratch / SERVER_OUTPUT,
        )

    def await_ready(self, server: Server, served: ProgramServer) -> None:
        """If it never answers, its output so far is kept, because it may write more when it
        ends."""
        self.taken.worsen(server.await_ready())
        if not self.taken.good:
            self.read_log(served)
            self._unready = self.taken.log

    def read_log(self, served: ProgramServer) -> None:
        """The output of the server so far."""
        output = self.scratch / SERVER_OUTPUT
        self.taken.log = log_of(served, self.binding, self.run, output)

    def load(self, words: tuple[str, ...]) -> None:
        if not self.taken.good:
            return
        said = self.scratch / "said"
        done = run_step(words, self.environment, self.run, said, STEP_S)
        if not done.good:
            why = f"before the client: {shown(words)} {done.why}\n{done.said}"
            self.taken.worsen(Classified(Outcome.FAILED, why.strip()))

    def client(self, is_over: Callable[[], bool], *, under: bool) -> None:
        """Run the client, and check the server meanwhile, because some clients wait forever
        without it."""
        prefix = self._treatment.prefix if under else ()
        words = (*prefix, *self.binding.words(self._program.command))
        spec = self._spec(words, under=under)
        with Running(spec) as running:
            while not running.is_over(LOOK_S):
                if is_over():
                    if not running.is_over(WAKE_S):
                        running.stop()
                        return  # the end of the server is the outcome
                    break
            raw = running.finish()
        if under:
            self.taken.proof = prove(raw, self._treatment)
            self._named(raw, self.taken.proof)
            return
        self._named(raw, SURE)
        spent = [each for each in (raw.user_s, raw.sys_s) if each is not None]
        self.taken.figures["client_cpu_s"] = sum(spent) if spent else None

    def take_server(self, raw: RawRun, end: Classified | None, *, preload: bool) -> None:
        """The usage of the server is that of the run, if it was under the treatment."""
        taken = self.taken
        if end is not None and end.detail.startswith("the server ended"):
            taken.named = FINE  # a failure of the client then has a known cause
        taken.worsen(end)
        if preload:
            taken.figures |= {name: getattr(raw, name) for name in OF_SERVER}
            taken.proof = prove(raw, self._treatment)
            if not taken.proof.effective:
                why = taken.proof.detail or "no process reported it"
                taken.worsen(Classified(Outcome.NOT_INTERPOSED, f"the server: {why}"))
        if not taken.good and taken.named.outcome is not Outcome.NOT_INTERPOSED:
            told = [last_lines(self._unready or taken.log)]
            if taken.named.outcome is Outcome.TIMEOUT:  # reported together with the end
                told.insert(0, last_lines(raw.stderr_tail))
            last = "\n".join(dict.fromkeys(filter(None, told)))
            if last and last not in taken.named.detail:
                taken.named = replace(
                    taken.named, detail=f"{taken.named.detail}\nits log ends:\n{last}"
                )

    def ask(self) -> None:
        """The checks that are commands, made while the server still runs."""
        for check in self._program.checks:
            if check.command is None or not self.taken.good:
                continue
            words = self.binding.step(check.command)
            environment = {**self.environment, "HEAPWRIGHT_OUTPUT": str(self.scratch / "output")}
            said = self.scratch / "said"
            done = run_step(words, environment, self.run, said, STEP_S)
            if not done.good:
                self._fail(check, f"{shown(words)} {done.why}: {done.said}")

    def judge(self) -> None:
        """The checks of files and output, then the responses of a good run."""
        taken = self.taken
        for check in self._program.checks:
            if check.command is None and taken.good and (why := self._wrong(check)):
                self._fail(check, why)
        if not taken.good:
            return
        try:
            for name, response in self._program.responses.items():
                value = number_in(self._stream(response.stream), response)
                if value is not None:
                    taken.responses[name] = value
        except ValueError as error:
            taken.worsen(Classified(Outcome.FAILED, f"{name}: {error}"))

    def _fail(self, check: ProgramCheck, why: str) -> None:
        words = f"not so: {check.what}: {why}" if why else f"not so: {check.what}"
        self.taken.worsen(Classified(Outcome.FAILED, words))

    def _stream(self, name: str) -> str:
        texts: Mapping[str, str] = {
            "stdout": self.taken.stdout,
            "stderr": self.taken.stderr,
            "log": self.taken.log,
        }
        return texts[name]

    def _wrong(self, check: ProgramCheck) -> str:
        """Why a check of files or output fails; empty if it holds."""
        if check.same_as is not None:
            written = self.scratch / "output"
            if check.file is not None:
                written = self.cwd / self.binding.text(check.file)
            return _difference(written, Path(self.binding.text(check.same_as)))
        if check.file is not None:
            text = text_in(self.cwd / self.binding.text(check.file))
        else:
            text = self._stream(check.stream)
        if check.pattern is not None and re.search(check.pattern, text, re.MULTILINE) is None:
            return f"nothing fits {check.pattern!r}"
        if check.without is not None:
            found = re.search(check.without, text, re.MULTILINE)
            return "" if found is None else f"there is {found[0]!r}"
        return ""


def _copy(source: Path, target: Path) -> None:
    """Copy a file or a folder, sharing blocks where the file system can. Raises HeapwrightError."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, symlinks=True)
        else:
            shutil.copy2(source, target)
    except shutil.Error as error:
        raise HeapwrightError(f"{source} cannot be copied: {error.args[0][0][2]}") from error
    except OSError as error:
        raise HeapwrightError(
            f"{source} cannot be copied into {target.parent}: {error.strerror}"
        ) from error


def _difference(written: Path, expected: Path) -> str:
    """How a file differs from the expected one."""
    try:
        ours, theirs = written.read_bytes(), expected.read_bytes()
    except OSError as error:
        return f"{error.filename} cannot be read: {error.strerror}"
    if ours == theirs:
        return ""
    lines, others = ours.splitlines(), theirs.splitlines()
    for number, (line, other) in enumerate(zip(lines, others, strict=False), start=1):
        if line != other:
            return f"line {number} is {line[:60]!r}, and should be {other[:60]!r}"
    return f"{len(ours)} bytes, and should be {len(theirs)}"
