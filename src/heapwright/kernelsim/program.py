# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The program that runs the models: on a load, or on a kernel trace."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heapwright.artefacts.kernelsim.document import ModelsAnswer
from heapwright.artefacts.kernelsim.load import KernelLoad
from heapwright.base.errors import HeapwrightError
from heapwright.base.native_programs import Program
from heapwright.kernelsim.load_text import load_text

PROGRAM = "kernelsim"
COUNTING = "kernelsim-observed"
"""The same, with instrumented models."""


@dataclass(frozen=True, slots=True)
class ModelRuns:
    """The models that are run, and how."""

    models: Sequence[str]
    rounds: int
    counts: bool = False

    @property
    def program(self) -> str:
        return COUNTING if self.counts else PROGRAM

    @property
    def words(self) -> list[str]:
        named = [word for model in self.models for word in ("--model", model)]
        return ["--rounds", str(self.rounds), *named]


def run_load(load: KernelLoad, runs: ModelRuns, *, processors: int, seed: int) -> ModelsAnswer:
    """Raises HeapwrightError where it cannot be run."""
    words = ["--cpus", str(processors), "--seed", str(seed), *runs.words]
    program = Program(
        runs.program, lambda why: HeapwrightError(f"the load could not be run: {why}")
    )
    return program.answer(ModelsAnswer, words, text=load_text(load))


def run_trace(trace: Path, runs: ModelRuns) -> ModelsAnswer:
    """Raises HeapwrightError where it cannot be run, or is no kernel trace."""
    program = Program(runs.program, lambda why: HeapwrightError(f"{trace}: {why}"))
    return program.answer(ModelsAnswer, ["--trace", str(trace), *runs.words])


def write_trace(load: KernelLoad, trace: Path, *, processors: int, seed: int) -> None:
    """The traffic of a load as a kernel trace. Raises HeapwrightError."""
    words = ["--cpus", str(processors), "--seed", str(seed), "--write", str(trace)]
    refusal = Program(PROGRAM, lambda why: HeapwrightError(f"the trace could not be made: {why}"))
    refusal.ask(words, text=load_text(load))
