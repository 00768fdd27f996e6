# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The program that runs the models: on a load, or on a kernel trace."""

from collections.abc import Sequence
from pathlib import Path

from heapwright.artefacts.kernelsim.document import ModelsAnswer
from heapwright.artefacts.kernelsim.load import KernelLoad
from heapwright.base.errors import HeapwrightError
from heapwright.base.native_programs import Program
from heapwright.kernelsim.load_text import load_text

PROGRAM = "kernelsim"
COUNTING = "kernelsim-observed"
"""The same, with instrumented models."""


def run_load(
    load: KernelLoad,
    models: Sequence[str],
    *,
    processors: int,
    seed: int,
    rounds: int,
    counts: bool = False,
) -> ModelsAnswer:
    """Raises HeapwrightError where it cannot be run."""
    words = ["--cpus", str(processors), "--seed", str(seed), *_common(models, rounds)]
    name = COUNTING if counts else PROGRAM
    program = Program(name, lambda why: HeapwrightError(f"the load could not be run: {why}"))
    return program.answer(ModelsAnswer, words, text=load_text(load))


def run_trace(
    trace: Path, models: Sequence[str], *, rounds: int, counts: bool = False
) -> ModelsAnswer:
    """Raises HeapwrightError where it cannot be run, or is no kernel trace."""
    name = COUNTING if counts else PROGRAM
    program = Program(name, lambda why: HeapwrightError(f"{trace}: {why}"))
    return program.answer(ModelsAnswer, ["--trace", str(trace), *_common(models, rounds)])


def write_trace(load: KernelLoad, trace: Path, *, processors: int, seed: int) -> None:
    """The traffic of a load as a kernel trace. Raises HeapwrightError."""
    words = ["--cpus", str(processors), "--seed", str(seed), "--write", str(trace)]
    refusal = Program(PROGRAM, lambda why: HeapwrightError(f"the trace could not be made: {why}"))
    refusal.ask(words, text=load_text(load))


def _common(models: Sequence[str], rounds: int) -> list[str]:
    words = ["--rounds", str(rounds)]
    for model in models:
        words += ["--model", model]
    return words
