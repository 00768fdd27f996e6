# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Makes one run of the engine: prepare, run under the treatment, prove, classify its end."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heapwright.artefacts.run.measured import Outcome, Run
from heapwright.base import native
from heapwright.base.scratch import Scratch
from heapwright.experiment.blocks import Assignment
from heapwright.experiment.design import Key
from heapwright.experiment.hooks import run_hook
from heapwright.experiment.interposition import Interposition, judge
from heapwright.experiment.outcome import Classified, classify
from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.runner import RawRun, RunSpec, run_once, with_preload
from heapwright.experiment.treatments import Treatment

LONGEST_OUTPUT = 1 << 24
MEASURED = tuple(name for name in RawRun.model_fields if name in Run.model_fields)

Reader = Callable[[str], Mapping[str, object]]
"""Reads fields of a run from the output of a good run. They replace those of the whole process.
Raises ValueError with a reason for unreadable output."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """The settings of every run whose treatment does not replace them."""

    command: tuple[str, ...]
    environment: Mapping[str, str]
    cwd: Path
    stdin: Path | None = None
    cpus: str | None = None
    prepare: str | None = None
    expect_exit: int = 0
    reader: Reader | None = None


class Measurement:
    """Makes runs. Pass `execute` to the engine."""

    def __init__(self, conditions: Conditions, paths: PreloadPaths) -> None:
        self._conditions = conditions
        self._specs = Specs(conditions, paths)

    def execute(self, assignment: Assignment) -> Run:
        """One run. Raises HeapwrightError if it cannot be made, RunInterrupted on Ctrl-C."""
        conditions = self._conditions
        if conditions.prepare is not None:
            run_hook("--prepare", conditions.prepare, conditions.environment, conditions.cwd)
        treatment = assignment.treatment
        spec = self._specs.of(treatment, timeout_s=assignment.timeout_s)
        if conditions.reader is None:
            raw, printed = run_once(spec), ""
        else:
            raw, printed = run_printing(spec)
        proof = prove(raw, treatment)
        named = classify(raw, proof, frozenset({conditions.expect_exit}))
        figures = figures_of(raw)
        if conditions.reader is not None and named.outcome is Outcome.OK:
            try:
                figures |= conditions.reader(printed)
            except ValueError as error:
                named = Classified(Outcome.FAILED, str(error))
        return Run.model_validate({**figures, **end_of(assignment, named, proof)})


@dataclass(frozen=True, slots=True)
class Specs:
    """The command of a treatment."""

    conditions: Conditions
    paths: PreloadPaths
    first: Path | None = None
    """Preloaded if a treatment preloads nothing: the C library, for a program that is linked to
    another allocator."""
    environments: dict[tuple[Key, bool], Mapping[str, str]] = field(default_factory=dict)
    """Of the treatments that have been run, under them or not."""

    def of(
        self,
        treatment: Treatment,
        *,
        timeout_s: float | None,
        words: Sequence[str] = (),
        under: bool = True,
    ) -> RunSpec:
        """`words` in place of the treatment's command; not `under` it: without its allocator."""
        conditions = self.conditions
        return RunSpec(
            command=tuple(words) or command_of(treatment, conditions),
            environment=self._environment(treatment, under=under),
            timeout_s=timeout_s,
            cwd=treatment.cwd or conditions.cwd,
            stdin=treatment.stdin or conditions.stdin,
            cpus=treatment.cpus or conditions.cpus,
            counters=True,
            witnessed=under and treatment.proven,
        )

    def _environment(self, treatment: Treatment, *, under: bool) -> Mapping[str, str]:
        """The environment of a treatment, made once for all its runs."""
        known = self.environments.get((treatment.key, under))
        if known is None:
            known = self._make_environment(treatment, under=under)
            self.environments[treatment.key, under] = known
        return known

    def _make_environment(self, treatment: Treatment, *, under: bool) -> Mapping[str, str]:
        environment = dict(self.conditions.environment)
        if not under:
            return environment
        chosen = treatment.preload or (self.first if treatment.proven else None)
        preload = [chosen] if chosen is not None else []
        preload += [native.witness()] if treatment.proven else []
        environment |= treatment.environment
        return with_preload(environment, *map(self.paths.of, preload))


def command_of(treatment: Treatment, conditions: Conditions) -> tuple[str, ...]:
    """The words that are run for a treatment."""
    return (*treatment.prefix, *(treatment.command or conditions.command))


def run_printing(spec: RunSpec) -> tuple[RawRun, str]:
    """A run, and what it printed."""
    with Scratch() as folder:
        output = folder / "output"
        raw = run_once(spec.printing_to(output))
        return raw, text_in(output)


def text_in(file: Path) -> str:
    """What was written to a file, as far as it is read; nothing if there is none."""
    try:
        with file.open("r", encoding="utf-8", errors="replace") as stream:
            return stream.read(LONGEST_OUTPUT)
    except OSError:
        return ""


def prove(raw: RawRun, treatment: Treatment) -> Interposition:
    """Whether the run was under its treatment. A run without a proof is accepted."""
    if not treatment.proven:
        return Interposition(True, 0.0)
    return judge(raw.processes, treatment.preload, raw.balance)


def figures_of(raw: RawRun) -> dict[str, Any]:
    """The measurements of the runner, as fields of a run."""
    return {name: getattr(raw, name) for name in MEASURED}


def end_of(assignment: Assignment, named: Classified, proof: Interposition) -> dict[str, Any]:
    """The treatment and the outcome, as fields of a run."""
    return {
        "allocator": assignment.treatment.key[0],
        "level": assignment.treatment.key[1],
        "block": assignment.block,
        "position": assignment.position,
        "warmup": assignment.warmup,
        "outcome": named.outcome,
        "interposed": proof.effective and assignment.treatment.proven,
        "detail": named.detail,
    }
