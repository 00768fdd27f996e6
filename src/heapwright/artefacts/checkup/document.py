# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a machine is fit to measure on: what was looked at, what it means, what to do.

This is what `heapwright doctor --json` writes; docs/reference/doctor.md explains every field.
Immutable; what the machine does not tell is null or `unknown`, never guessed.
"""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from heapwright.artefacts.models import FrozenModel
from heapwright.artefacts.run.provenance import Environment

SCHEMA_VERSION: Literal[1] = 1


class Finding(StrEnum):
    """What a check came to."""

    GOOD = "good"
    NOTE = "note"
    """Worth knowing; figures can be trusted all the same."""
    WARNING = "care"
    """Adds scatter, tilts figures, or keeps something from being measured."""
    BAD = "bad"
    """Figures measured now would mislead."""
    UNKNOWN = "unknown"
    """The machine does not tell, as virtual machines often do not."""


class Check(FrozenModel):
    """One thing that was looked at."""

    name: str
    finding: Finding
    says: Annotated[str, Field(description="What is the case, in a few words")]
    advice: Annotated[str, Field(description="What to do; empty: nothing")] = ""


class Visible(FrozenModel):
    """The smallest difference of two allocators that runs of this scatter show."""

    budget_s: float
    run_s: Annotated[float, Field(description="Length of one run")]
    blocks: Annotated[int, Field(description="That fit into the budget, two runs each")]
    difference: Annotated[
        float | None, Field(description="As a fraction; null: fewer than two blocks fit")
    ]


class Noise(FrozenModel):
    """How much alike runs differ: the same command, again and again, as `compare` runs it."""

    command: tuple[str, ...]
    runs: int
    run_s: Annotated[float, Field(description="Median wall time")]
    scatter: Annotated[float, Field(description="Standard deviation of the logarithm of the time")]
    pair_scatter: Annotated[
        float, Field(description="The same of the ratio of neighbouring runs: what blocks leave")
    ]
    cpu_scatter: Annotated[
        float | None, Field(description="Of the logarithm of processor time")
    ] = None
    slowest: Annotated[float, Field(description="The slowest run over the median")]
    drift: Annotated[
        float, Field(description="Second half of the test over the first, geometric means")
    ]
    effective_pairs: Annotated[
        float, Field(description="Independent pairs that the pairs are worth")
    ]
    faults: Annotated[int | None, Field(description="Major page faults in all runs")] = None
    visible: tuple[Visible, ...] = ()


class Checkup(FrozenModel):
    """The whole answer."""

    schema_version: Literal[1] = SCHEMA_VERSION
    environment: Environment
    fit: Annotated[bool, Field(description="Nothing is bad")]
    sentence: str
    checks: tuple[Check, ...]
    noise: Annotated[Noise | None, Field(description="null: not measured")] = None

    def to_json(self) -> str:
        return self.model_dump_json(indent=2) + "\n"
