# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Makes one run of a workload program: run, prove the preload, classify its end, read its line.

It uses the runner, the proof and the outcomes of `compare`. A program fails if its output is
unreadable, or if it reports wrong memory.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.run.workload import WorkloadLine, WorkloadRun
from heapwright.base import native
from heapwright.base.scratch import Scratch
from heapwright.experiment.interposition import judge
from heapwright.experiment.outcome import classify
from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.runner import RunSpec, run_once, with_preload
from heapwright.experiment.taxonomy.survey import Task

TIMEOUT_S = 60.0
LONGEST_LINE = 1 << 24


@dataclass(frozen=True, slots=True)
class Subject:
    """The layer under a workload: a library or none, variables, options of the program."""

    library: Path | None
    environment: Mapping[str, str]
    options: tuple[str, ...] = ()
    counter: Path | None = None
    """A library that is preloaded beside it and counts for it."""


class WorkloadRunner:
    """Makes runs of workload programs."""

    def __init__(self, environment: Mapping[str, str], paths: PreloadPaths, seed: int) -> None:
        self._environment = dict(environment)
        self._paths = paths
        self._seed = seed
        self._witness = paths.of(native.witness())

    def run(self, task: Task, subject: Subject) -> WorkloadRun:
        """One run. Raises HeapwrightError if it cannot be made, RunInterrupted on Ctrl-C."""
        program = native.workload(task.trial.workload)
        words = command(program, task, subject, self._seed)
        libraries = (subject.library, subject.counter)
        preload = [self._paths.of(library) for library in libraries if library is not None]
        merged = {**self._environment, **subject.environment}
        with Scratch() as folder:
            output = folder / "line"
            raw = run_once(
                RunSpec(
                    command=words,
                    environment=with_preload(merged, *preload, self._witness),
                    timeout_s=TIMEOUT_S,
                    stdout=output,
                )
            )
            text = _read(output)
        named = classify(raw, judge(raw.processes, subject.library, raw.balance))
        run = run_of(task, words, named.outcome, named.detail, text)
        counts = numbers(run.line.events) if run.line is not None and run.line.events else {}
        measured = {
            "wall_s": raw.wall_s,
            "cpu_s": _sum(raw.user_s, raw.sys_s),
            "involuntary_switches": raw.involuntary_switches,
            "peak_rss_bytes": raw.peak_rss_bytes,
        }
        return run.model_copy(update={**measured, "counts": counts})


def run_of(
    task: Task, words: tuple[str, ...], outcome: Outcome, detail: str, text: str
) -> WorkloadRun:
    """A run of a task and its output. A run without a result has failed."""
    line = read_line(text) if outcome is Outcome.OK else None
    if outcome is Outcome.OK and line is None:
        outcome, detail = Outcome.FAILED, "it printed no line that can be read"
    return WorkloadRun(
        allocator=task.allocator,
        aspect=task.trial.aspect,
        workload=task.trial.workload,
        arguments=words[1:],
        threads=task.trial.threads,
        block=task.block,
        outcome=outcome,
        detail=detail,
        line=line,
    )


def command(program: Path, task: Task, subject: Subject, seed: int) -> tuple[str, ...]:
    """The words that are run; each block has a seed of its own, the same for all allocators."""
    trial = task.trial
    fixed = ("--threads", str(trial.threads), "--seed", str(seed + task.block))
    return (os.fspath(program), *fixed, *trial.arguments, *subject.options)


def read_line(text: str) -> WorkloadLine | None:
    """The last line of a program's output, if it is valid."""
    lines = [line for line in text.splitlines() if line.strip()]
    try:
        return WorkloadLine.model_validate_json(lines[-1]) if lines else None
    except ValidationError:
        return None


def numbers(counted: Mapping[str, object]) -> dict[str, float]:
    """The numeric counts of a program."""
    return {
        name: float(value)
        for name, value in counted.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }


def _sum(user_s: float | None, sys_s: float | None) -> float | None:
    return None if user_s is None or sys_s is None else user_s + sys_s


def _read(path: Path) -> str:
    try:
        with path.open("r", encoding="utf-8", errors="replace") as file:
            return file.read(LONGEST_LINE)
    except OSError:
        return ""
