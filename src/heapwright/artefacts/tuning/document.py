# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The answer of a search for settings.

This is what `heapwright tune --json` writes; docs/reference/tune.md explains every figure, and its
JSON Schema is `schema_text()`.

Invariants: Immutable. Ratios are to the default settings in the same runs. An unknown value is
null.

Versions:
    1  the first
"""

from typing import Annotated, Literal

from pydantic import Field

from heapwright.artefacts.models import WrittenModel
from heapwright.artefacts.run.provenance import Environment
from heapwright.base.json_schema import schema_text_of

SCHEMA_VERSION: Literal[1] = 1
FORMAT: Literal["heapwright tuning"] = "heapwright tuning"
Action = Literal["set", "keep", "undecided"]


class Ratio(WrittenModel):
    """A ratio with its interval; null: the runs give no bound."""

    ratio: float
    low: float | None
    high: float | None


class SettingResult(WrittenModel):
    """One setting of the search."""

    name: str
    levels: tuple[str, ...]
    default: Annotated[str, Field(description="What the allocator does without the setting")]
    effect: Annotated[
        Ratio | None,
        Field(
            description="The objective at the last level, relative to the first, over all levels "
            "of the other settings. The intervals of all settings hold at once"
        ),
    ] = None
    sum_of_squares: Annotated[
        float | None, Field(description="Of the logarithm of the objective in the screening")
    ] = None
    p: Annotated[float | None, Field(description="Of the effect in the analysis of variance")] = (
        None
    )
    active: Annotated[bool, Field(description="The search refined it")] = False
    restart: Annotated[bool, Field(description="Only a new process reads it")] = True


class Interaction(WrittenModel):
    """Settings whose effects depend on each other."""

    settings: tuple[str, str]
    effect: Annotated[float, Field(description="As a ratio, like the effect of a setting")]
    sum_of_squares: float
    p: float
    aliases: Annotated[
        tuple[tuple[str, str], ...], Field(description="Pairs that could be the cause instead")
    ] = ()


class Candidate(WrittenModel):
    """Settings that were raced, and their ratio to the default by medians."""

    settings: dict[str, str]
    ratio: float | None
    left: Annotated[str, Field(description="Why it left the race; empty: it did not")] = ""


class Confirmed(WrittenModel):
    """The candidate beside the default, in runs that the search did not use."""

    settings: dict[str, str]
    pairs: int
    objective: Ratio | None
    other: Ratio | None
    judgement: str


class Answer(WrittenModel):
    """What to do."""

    action: Action
    settings: dict[str, str] = {}
    variables: Annotated[dict[str, str], Field(description="Of the environment")] = {}
    reason: str
    notes: tuple[str, ...] = ()


class Tuning(WrittenModel):
    """The whole document."""

    format: Literal["heapwright tuning"] = FORMAT
    schema_version: Literal[1] = SCHEMA_VERSION
    heapwright_version: str
    command: tuple[str, ...]
    environment: Environment
    allocator: str
    objective: Annotated[str, Field(description="time, peak, idle, or a figure of the program")]
    figure: Annotated[
        str,
        Field(
            description="What is made small: time (wall), cpu, memory (peak), idle, or a measure "
            "of the runs"
        ),
    ]
    cap: Annotated[
        float | None, Field(description="Ratio that the other figure may have; null: any")
    ]
    margin: float
    confidence: float
    seed: int
    settings: tuple[SettingResult, ...]
    interactions: tuple[Interaction, ...] = ()
    scatter: Annotated[
        float | None, Field(description="Standard deviation of the logarithm of one run")
    ] = None
    df: Annotated[int | None, Field(description="Degrees of freedom of the scatter")] = None
    raced: tuple[Candidate, ...] = ()
    confirmed: Confirmed | None = None
    answer: Answer
    runs: Annotated[int, Field(description="Measured runs")]
    grid: Annotated[int, Field(description="Combinations of all levels")]
    finished: Annotated[bool, Field(description="The search came to its end")]

    def to_json(self) -> str:
        """The document as it is written to a file."""
        return self.model_dump_json(indent=1) + "\n"


def schema_text() -> str:
    """The JSON Schema of the document."""
    return schema_text_of(Tuning, "tuning")
