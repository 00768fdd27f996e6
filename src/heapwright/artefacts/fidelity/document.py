# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""How far a synthetic load is from its model: the document that `heapwright synth --json` writes.

docs/reference/synth.md explains every distance, and its JSON Schema is `schema_text()`. It contains
both profiles. Invariants: immutable; reading back what was written gives an equal object; what
could not be had is null, never zero.

Versions:
    1  the first
"""

from typing import Annotated, Literal

from pydantic import Field

from heapwright.artefacts.models import WrittenModel
from heapwright.artefacts.profile.document import Profile
from heapwright.base.json_schema import schema_text_of

SCHEMA_VERSION: Literal[1] = 1
FORMAT: Literal["heapwright fidelity"] = "heapwright fidelity"

Aspect = Literal["sizes", "lifetimes", "live curve", "hand-overs", "routines", "long-lived"]


class Distance(WrittenModel):
    """One aspect in which the load was compared with its model."""

    aspect: Aspect
    distance: Annotated[
        float | None,
        Field(ge=0, description="0: the same; a distribution is at most 1 away from another"),
    ]
    how: Annotated[str, Field(description="What the figure is")]
    why: Annotated[str, Field(description="What null is due to")] = ""


class RankedAllocator(WrittenModel):
    """One allocator replaying both, as ratios to the baseline."""

    allocator: str
    model_time: float | None = None
    synthetic_time: float | None = None
    model_memory: float | None = None
    synthetic_memory: float | None = None


class Ranking(WrittenModel):
    """Whether allocators rank the same on the replay of both traces."""

    baseline: str
    blocks: int
    allocators: tuple[RankedAllocator, ...]
    tau_time: Annotated[
        float | None,
        Field(description="Kendall's tau-b of the times: 1 the same order, -1 the opposite"),
    ] = None
    tau_memory: Annotated[float | None, Field(description="The same of the memory")] = None
    same_fastest: bool | None = None


class Recipe(WrittenModel):
    """What the load was drawn by; the same recipe gives the same trace."""

    model: Literal["default", "costa"]
    seed: int
    factor: Annotated[float, Field(gt=0, description="Its length over the program's")]
    threads: int


class Fidelity(WrittenModel):
    """The whole document."""

    format: Literal["heapwright fidelity"] = FORMAT
    schema_version: Literal[1] = SCHEMA_VERSION
    heapwright_version: str = ""
    recipe: Recipe
    distances: tuple[Distance, ...]
    ranking: Annotated[
        Ranking | None, Field(description="null: not requested, or the model cannot be replayed")
    ] = None
    model: Profile
    synthetic: Profile

    def to_json(self) -> str:
        """The document as it is written to a file."""
        return self.model_dump_json(indent=1, by_alias=True) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes) -> "Fidelity":
        """Read what `to_json` wrote; raises pydantic.ValidationError on anything else."""
        return cls.model_validate_json(text)


def schema_text() -> str:
    """The JSON Schema of the document (`heapwright.artefacts.schemas`)."""
    return schema_text_of(Fidelity, "fidelity")
