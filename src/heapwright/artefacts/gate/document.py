# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The answer of a gate: what changed from one document to another, and how sure that is.

This is what `heapwright gate --json` writes; docs/reference/gate.md explains every field.
Immutable; a figure that could not be had is null, never zero.
"""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from heapwright.artefacts.models import FrozenModel

SCHEMA_VERSION: Literal[1] = 1


class Change(StrEnum):
    """What became of a figure. `same` is a finding, too: the change is shown to be small."""

    SAME = "same"
    FASTER = "faster"
    SLOWER = "slower"
    SMALLER = "smaller"
    LARGER = "larger"
    UNDECIDED = "undecided"
    BROKEN = "broken"
    """Its runs were good in the baseline, and some are not in the current document."""

    @property
    def is_worse(self) -> bool:
        return self in {Change.SLOWER, Change.LARGER}

    @property
    def is_better(self) -> bool:
        return self in {Change.FASTER, Change.SMALLER}


class Shift(FrozenModel):
    """One figure of one treatment: the current document's over the baseline's."""

    treatment: Annotated[str, Field(description="Label, the same in both documents")]
    response: str
    change: Change
    ratio: Annotated[float | None, Field(description="Current over baseline")] = None
    low: Annotated[float | None, Field(description="Simultaneous interval; null: no bound")] = None
    high: float | None = None
    runs: Annotated[tuple[int, int], Field(description="Good measured runs, in each document")]
    scatter: Annotated[
        tuple[float | None, float | None],
        Field(description="Standard deviation of the logarithm, in each document"),
    ] = (None, None)
    more_blocks: Annotated[
        int | None,
        Field(description="How many more blocks in each document would probably settle it"),
    ] = None
    relative_to: Annotated[
        str, Field(description="The figures are ratios to this treatment; empty: they are not")
    ] = ""
    doubted_by: Annotated[
        str, Field(description="The common baseline that moved as well; empty: none did")
    ] = ""
    words: Annotated[str, Field(description="The finding as the end of a sentence")] = ""


class Gate(FrozenModel):
    """The whole answer."""

    schema_version: Literal[1] = SCHEMA_VERSION
    heapwright_version: str
    verdict: Change
    sentence: str
    baseline: Annotated[str, Field(description="The file or folder")]
    current: str
    margin: float
    confidence: Annotated[float, Field(description="Of each verdict")]
    level: Annotated[float, Field(description="Of one two-sided interval")]
    relative: Annotated[
        bool, Field(description="Some figures are ratios to a baseline treatment: `relative_to`")
    ]
    shifts: tuple[Shift, ...]
    notes: tuple[str, ...] = ()

    def to_json(self) -> str:
        return self.model_dump_json(indent=2) + "\n"
