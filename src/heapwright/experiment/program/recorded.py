# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The surroundings of a program that the recorder starts: its folder, its client or server, its
checks.

The folder of the run exists as long as this context. The recorder starts the program with `words`,
`environment`, `cwd` and `stdin`, and its output goes to `output`. If the program is a server, the
recorder calls `drive` while it runs, and then ends it.
"""

import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from heapwright.artefacts.program.model import ProgramServer
from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.run.provenance import Allocator, Kind
from heapwright.base.errors import HeapwrightError
from heapwright.base.scratch import Scratch
from heapwright.experiment.measurement import Specs, text_in
from heapwright.experiment.outcome import Classified
from heapwright.experiment.program.service import log_of
from heapwright.experiment.program.session import Prepared, RunOfProgram
from heapwright.experiment.program.steps import last_lines, run_step
from heapwright.experiment.runner import RunSpec
from heapwright.experiment.server import FIRST_PAUSE_S, LONGEST_PAUSE_S, Server, refuse_answered
from heapwright.experiment.treatments import Treatment

NOBODY = Treatment(Allocator(name="", kind=Kind.SYSTEM, caption="what it has"), proven=False)
IsOver = Callable[[], bool]


class RecordedProgram:
    """A context manager that removes everything of the run."""

    def __init__(self, prepared: Prepared, specs: Specs) -> None:
        self._program = prepared.file.program
        self._scratch = Scratch()
        self._stack = ExitStack()
        self._unready = ""
        """The output of a server that never answered."""
        self._stack.callback(self._scratch.remove)
        try:
            self._run = RunOfProgram(prepared, specs, NOBODY, None, self._scratch.path)
            self._run.prepare()
            if (served := self.server) is not None:
                question = self._run.binding.question(served.ready)
                refuse_answered(question, self._run.environment, self._run.cwd)
        except BaseException:
            self._stack.close()
            raise

    @property
    def server(self) -> ProgramServer | None:
        """If the program is one."""
        return self._program.server if self._program.is_server else None

    @property
    def words(self) -> tuple[str, ...]:
        return self._run.binding.words(self._program.measured)

    @property
    def environment(self) -> dict[str, str]:
        return self._run.environment

    @property
    def cwd(self) -> Path:
        return self._run.cwd

    @property
    def stdin(self) -> Path | None:
        stdin = self._program.stdin
        if stdin is None or self.server is not None:
            return None
        return self._run.cwd / self._run.binding.text(stdin)

    @property
    def output(self) -> Path:
        """The file for the program's output."""
        return self._scratch.path / ("server" if self.server is not None else "output")

    @property
    def named(self) -> Classified:
        """How it ended, as seen by its surroundings. Call it after `notes`."""
        return self._run.taken.named

    def drive(self, is_over: IsOver) -> None:
        """Wait until the server answers, load it, and put its client to it."""
        served = self.server
        assert served is not None
        self._run.taken.worsen(self._awaited(served, is_over))
        if not self._run.taken.good:
            self._unready = self._log(served)  # it may write more when it ends
        for step in served.load:
            self._run.load(self._run.binding.step(step))
        if self._run.taken.good:
            self._run.client(is_over, under=False)
        self._run.ask()
        if served.stop and not is_over():
            words = self._run.binding.words(served.stop)
            said, patience = self._scratch.path / "stop", float(served.timeout_s)
            run_step(words, self._run.environment, self._scratch.path, said, patience)

    def notes(self) -> tuple[str, ...]:
        """The failures around the program, after its end."""
        served, taken = self.server, self._run.taken
        if served is None:
            taken.stdout = text_in(self.output)
            self._run.ask()
        else:
            taken.log = self._log(served)
        self._run.judge()
        if taken.good:
            return ()
        last = last_lines(self._unready or taken.log)
        named = f"{taken.named.outcome.value}: {taken.named.detail}"
        return (named, *([f"its log ends:\n{last}"] if last else []))

    def _log(self, served: ProgramServer) -> str:
        return log_of(served, self._run.binding, self._run.run, self.output)

    def _awaited(self, served: ProgramServer, is_over: IsOver) -> Classified | None:
        """Wait until a recorded server answers. It is slower than others."""
        question = self._run.binding.question(served.ready)
        deadline = time.monotonic() + float(served.timeout_s)
        pause = FIRST_PAUSE_S
        while not question.answered(self._run.environment, self._run.cwd):
            if is_over():
                return Classified(Outcome.FAILED, "the server ended before it answered")
            if time.monotonic() > deadline:
                words = f"the server did not answer at {question} in {served.timeout_s:g} s"
                return Classified(Outcome.TIMEOUT, words)
            time.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE_S)
        return None

    def _serve(self, served: ProgramServer) -> None:
        """Start a server for the program, and load its data."""
        patience = float(served.timeout_s)
        spec = RunSpec(
            command=self._run.binding.words(served.command),
            environment=self._run.environment,
            grace_s=patience,
            cwd=self._run.cwd,
            stdout=self._scratch.path / "server",
            witnessed=False,
        )
        question = self._run.binding.question(served.ready)
        environment = self._run.environment
        server = self._stack.enter_context(Server(spec, question, patience, environment))
        self._run.taken.worsen(server.await_ready())
        for step in served.load:
            self._run.load(self._run.binding.step(step))
        if not self._run.taken.good:
            raise HeapwrightError(self._run.taken.named.detail)

    def __enter__(self) -> Self:
        try:
            if self._program.server is not None and not self._program.is_server:
                self._serve(self._program.server)
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()
