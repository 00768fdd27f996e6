# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Whether allocators rank on a load drawn from a program as they do on the program itself. This is
the document that `heapwright agree --json` writes. The page docs/reference/agree.md explains it,
and its JSON Schema is `schema_text()`.

Invariants: immutable; reading back what was written gives an equal object; what could not be had is
null, never zero.

Versions:
    1  the first
"""

from typing import Annotated, Literal

from pydantic import Field

from heapwright.artefacts.models import WrittenModel
from heapwright.artefacts.run.replay import Surroundings
from heapwright.base.json_schema import schema_text_of

SCHEMA_VERSION: Literal[1] = 1
FORMAT: Literal["heapwright agreement"] = "heapwright agreement"

What = Literal["time", "memory"]
Load = Literal["program", "replay", "synthetic"]
LOADS: tuple[Load, ...] = ("program", "replay", "synthetic")


class Tau(WrittenModel):
    """Kendall's tau-b between two rankings: 1 the same order, -1 the opposite."""

    tau: Annotated[float | None, Field(description="null: fewer than two differ in both")] = None
    low: float | None = None
    high: Annotated[float | None, Field(description="The interval, from blocks drawn again")] = None


class AgreementOf(WrittenModel):
    """What a load says of one response of a program."""

    what: What
    load: Annotated[
        Load, Field(description="program: with itself, blocks drawn twice: the most to be had")
    ]
    tau: Tau
    same_best: Annotated[bool | None, Field(description="Is the best allocator the same?")] = None


class Measured(WrittenModel):
    """One allocator under one load: geometric means over the good blocks."""

    allocator: str
    load: Load
    runs: Annotated[int, Field(ge=0, description="Good ones")]
    seconds: float | None = None
    peak_bytes: float | None = None


class ProgramAgreement(WrittenModel):
    """One program; without figures if it could not be measured; then the reason is stated."""

    program: str
    events: Annotated[int, Field(ge=0, description="Calls in its trace")] = 0
    measured: tuple[Measured, ...] = ()
    agreements: tuple[AgreementOf, ...] = ()
    why: Annotated[str, Field(description="Why it has none, or what is missing")] = ""

    def of(self, what: What, load: Load) -> AgreementOf | None:
        return next((e for e in self.agreements if (e.what, e.load) == (what, load)), None)


class Overall(WrittenModel):
    """The mean over the programs that could be measured."""

    what: What
    load: Load
    programs: int
    tau: Tau
    same_best: Annotated[int, Field(ge=0, description="Programs whose best is the same")] = 0


class RankingAgreement(WrittenModel):
    """The whole document."""

    format: Literal["heapwright agreement"] = FORMAT
    schema_version: Literal[1] = SCHEMA_VERSION
    heapwright_version: str = ""
    allocators: tuple[str, ...]
    scale: str = ""
    blocks: int
    seed: int
    surroundings: Annotated[Surroundings, Field(description="Of the replay: between calls")] = (
        Surroundings()
    )
    confidence: float
    programs: tuple[ProgramAgreement, ...]
    overall: tuple[Overall, ...] = ()

    def to_json(self) -> str:
        """The document as it is written to a file."""
        return self.model_dump_json(indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes) -> "RankingAgreement":
        """Read what `to_json` wrote; raises pydantic.ValidationError on anything else."""
        return cls.model_validate_json(text)


def schema_text() -> str:
    """The JSON Schema of the document (`heapwright.artefacts.schemas`)."""
    return schema_text_of(RankingAgreement, "agreement")
