# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The program that writes generated traces, and what it can make without a model."""

import json
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from heapwright.base.errors import HeapwrightError
from heapwright.base.native_programs import Program
from heapwright.base.quantities import several
from heapwright.base.space import refuse_without_space
from heapwright.synth.plan import Plan

PROGRAM = "synth"
BYTES_A_CALL = 9
"""Of a generated trace, at most: the recreations have 4.5 to 9."""
FEWER = "--events N draws fewer calls; -o names a file on another file system"


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
    _refuse_what_does_not_fit(trace, 2 * plan.allocations)
    return _drawing().answer(Made, ["-o", str(trace)], text=plan.to_text())


def recreate(name: str, trace: Path, *, events: int | None, seed: int) -> Made:
    """Make one of the recreations. Raises HeapwrightError where the trace cannot be written."""
    calls = events or next((each.events for each in recreations() if each.name == name), 0)
    _refuse_what_does_not_fit(trace, calls)
    words = ["--recreate", name, "--seed", str(seed), "-o", str(trace)]
    if events is not None:
        words += ["--events", str(events)]
    return _drawing().answer(Made, words)


def recreations() -> tuple[Recreation, ...]:
    """Those that there are."""
    return tuple(Recreation.model_validate(each) for each in json.loads(_drawing().ask(["--list"])))


def size_of(calls: int) -> int:
    """The approximate bytes of a trace with this number of calls."""
    return BYTES_A_CALL * calls


def _refuse_what_does_not_fit(trace: Path, calls: int) -> None:
    refuse_without_space(trace, size_of(calls), f"a trace of {several(calls, 'call')}", FEWER)


def _drawing() -> Program:
    return Program(PROGRAM, lambda why: HeapwrightError(f"the trace could not be made: {why}"))
