# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""One run of the engine, made for real: prepare, run under the treatment, prove, name its end."""

import subprocess
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from heapwright.artefacts import native
from heapwright.artefacts.errors import HeapwrightError
from heapwright.artefacts.runs import Outcome, Run
from heapwright.experiment.engine import Assignment
from heapwright.experiment.interposition import judge
from heapwright.experiment.outcome import Classified, classify
from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.runner import RawRun, RunSpec, run_once, with_preload

SHELL = "/bin/sh"
LONGEST_OUTPUT = 1 << 24

Reader = Callable[[str], Mapping[str, object]]
"""Makes fields of a run from what a good run printed, in place of those of the whole process; a
ValueError in words if that cannot be read."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """What is the same for every run."""

    command: tuple[str, ...]
    environment: Mapping[str, str]
    cwd: Path
    stdin: Path | None = None
    cpus: str | None = None
    prepare: str | None = None
    expect_exit: int = 0
    reader: Reader | None = None


class Measurement:
    """Makes runs; `execute` is what the engine is given."""

    def __init__(self, conditions: Conditions, paths: PreloadPaths) -> None:
        self._conditions = conditions
        self._paths = paths
        self._witness = paths.of(native.witness())

    def execute(self, assignment: Assignment) -> Run:
        """One run. Raises HeapwrightError if it cannot be made, RunInterrupted on Ctrl-C."""
        self._prepare()
        treatment = assignment.treatment
        raw, printed = self._run(assignment)
        interposition = judge(raw.processes, treatment.preload, raw.balance)
        expected = frozenset({self._conditions.expect_exit})
        named = classify(raw, interposition, expected)
        figures = raw.model_dump(include=set(Run.model_fields))
        if self._conditions.reader is not None and named.outcome is Outcome.OK:
            try:
                figures |= self._conditions.reader(printed)
            except ValueError as error:
                named = Classified(Outcome.FAILED, str(error))
        return Run.model_validate(
            {
                **figures,
                "allocator": treatment.key[0],
                "level": treatment.key[1],
                "block": assignment.block,
                "position": assignment.position,
                "warmup": assignment.warmup,
                "outcome": named.outcome,
                "interposed": interposition.effective,
                "detail": named.detail,
            }
        )

    def _run(self, assignment: Assignment) -> tuple[RawRun, str]:
        """The run, and what it printed if that is to be read."""
        if self._conditions.reader is None:
            return run_once(self._spec(assignment, None)), ""
        with tempfile.TemporaryDirectory(prefix="heapwright-") as folder:
            output = Path(folder) / "output"
            raw = run_once(self._spec(assignment, output))
            try:
                with output.open("r", encoding="utf-8", errors="replace") as file:
                    return raw, file.read(LONGEST_OUTPUT)
            except OSError:
                return raw, ""

    def _spec(self, assignment: Assignment, output: Path | None) -> RunSpec:
        conditions = self._conditions
        treatment = assignment.treatment
        own = [] if treatment.preload is None else [self._paths.of(treatment.preload)]
        environment = {**conditions.environment, **treatment.environment}
        return RunSpec(
            command=conditions.command,
            environment=with_preload(environment, *own, self._witness),
            timeout_s=assignment.timeout_s,
            cwd=conditions.cwd,
            stdin=conditions.stdin,
            stdout=output,
            cpus=conditions.cpus,
            counters=True,
        )

    def _prepare(self) -> None:
        """Run the preparing command as the user would, without any allocator of ours."""
        text = self._conditions.prepare
        if text is None:
            return
        with tempfile.TemporaryFile() as output:
            done = subprocess.run(
                [SHELL, "-c", text],
                cwd=self._conditions.cwd,
                env=dict(self._conditions.environment),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                check=False,
            )
            if done.returncode == 0:
                return
            output.seek(max(output.tell() - 4096, 0))
            lines = output.read().decode(errors="replace").split("\n")
        said = next((line.strip() for line in reversed(lines) if line.strip()), "")
        raise HeapwrightError(
            f"--prepare ended with status {done.returncode}{': ' + said if said else ''}",
            "what was measured before is kept",
        )
