# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The program that writes generated traces, and what it can make without a model."""

import json
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from heapwright.base.errors import HeapwrightError
from heapwright.base.native_programs import Program
from heapwright.synth.plan import Plan

PROGRAM = "synth"


class Made(BaseModel):
    """What came of it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    events: int
    threads: int


class Recreation(BaseModel):
    """A trace that is made again from its published description."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    caption: str
    threads: int
    events: int


def draw(plan: Plan, trace: Path) -> Made:
    """Draw a load from the plan. Raises HeapwrightError where the trace cannot be written."""
    return _drawing().answer(Made, ["-o", str(trace)], text=plan.to_text())


def recreate(name: str, trace: Path, *, events: int | None, seed: int) -> Made:
    """Make one of the recreations. Raises HeapwrightError where the trace cannot be written."""
    words = ["--recreate", name, "--seed", str(seed), "-o", str(trace)]
    if events is not None:
        words += ["--events", str(events)]
    return _drawing().answer(Made, words)


def recreations() -> tuple[Recreation, ...]:
    """Those that there are."""
    return tuple(Recreation.model_validate(each) for each in json.loads(_drawing().ask(["--list"])))


def _drawing() -> Program:
    return Program(PROGRAM, lambda why: HeapwrightError(f"the trace could not be made: {why}"))
