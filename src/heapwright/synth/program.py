# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The program that writes generated traces, and what it can make without a model."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from heapwright.artefacts import native
from heapwright.artefacts.errors import HeapwrightError
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
    return Made.model_validate_json(_run(["-o", str(trace)], plan.to_text()))


def recreate(name: str, trace: Path, *, events: int | None, seed: int) -> Made:
    """Make one of the recreations. Raises HeapwrightError where the trace cannot be written."""
    words = ["--recreate", name, "--seed", str(seed), "-o", str(trace)]
    if events is not None:
        words += ["--events", str(events)]
    return Made.model_validate_json(_run(words))


def recreations() -> tuple[Recreation, ...]:
    """Those that there are."""
    return tuple(Recreation.model_validate(each) for each in json.loads(_run(["--list"])))


def _run(words: Sequence[str], text: str = "") -> str:
    done = subprocess.run(
        [str(native.program(PROGRAM)), *words],
        input=text,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode != 0:
        said = done.stderr.strip().removeprefix(f"heapwright-{PROGRAM}: ")
        why = said or f"it ended with status {done.returncode}"
        raise HeapwrightError(f"the trace could not be made: {why}")
    return done.stdout
