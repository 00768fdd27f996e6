# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What `heapwright validate` measured of a stand-in and of its original. This is the document that
`--json` writes. The page docs/reference/validate.md explains it, and its JSON Schema is
`schema_text()`.

Invariants: immutable; reading back what was written gives an equal object; what could not be had is
null, never zero.

Versions:
    1  the first
"""

from typing import Annotated, Literal

from pydantic import Field

from heapwright.artefacts.models import WrittenModel
from heapwright.artefacts.run.provenance import Environment
from heapwright.artefacts.run.workload import WorkloadRun
from heapwright.artefacts.taxonomy.document import Column, Estimate, Plan, Row
from heapwright.base.json_schema import schema_text_of

SCHEMA_VERSION: Literal[1] = 1
FORMAT: Literal["heapwright validation"] = "heapwright validation"

Answer = Literal["agrees", "differs", "undecided"]
What = Literal["peak memory", "lock acquisitions", "lock hand-overs", "speedup", "end of runs"]
"""In the order of the table and of the sentence."""


class Tolerance(WrittenModel):
    """The largest difference that still agrees. A difference up to a floor always agrees."""

    peak: Annotated[float, Field(description="Ratio of peaks beyond fixed parts, at most")]
    peak_floor: Annotated[float, Field(description="Bytes")]
    locks: Annotated[float, Field(description="Ratio of counts for an operation, at most")]
    locks_floor: Annotated[float, Field(description="Events per thousand operations")]
    speedup: Annotated[float, Field(description="Ratio of speedups, at most")]


class Check(WrittenModel):
    """One figure of one workload, at one number of threads."""

    what: What
    workload: str
    threads: int
    original: Annotated[
        float | None,
        Field(description="Bytes, events per thousand operations, or a speedup; the mean"),
    ] = None
    stand_in: float | None = None
    ratio: Annotated[Estimate | None, Field(description="Original over stand-in")] = None
    answer: Answer
    why: Annotated[str, Field(description="Where there is no ratio")] = ""


class Judgement(WrittenModel):
    """One column of the taxonomy: what it says of both."""

    column: Column
    original: str
    stand_in: str
    answer: Answer


class Validation(WrittenModel):
    """The whole document."""

    format: Literal["heapwright validation"] = FORMAT
    schema_version: Literal[1] = SCHEMA_VERSION
    heapwright_version: str
    environment: Annotated[Environment, Field(description="The machine, and both libraries")]
    original: Annotated[str, Field(description="The file name of the original")]
    stand_in: Annotated[str, Field(description="The name of the stand-in")]
    plan: Plan
    tolerance: Tolerance
    verdict: Answer
    sentence: str
    checks: tuple[Check, ...]
    judgements: tuple[Judgement, ...]
    rows: Annotated[tuple[Row, ...], Field(description="Both as `taxonomy` sees them")]
    notes: tuple[str, ...] = ()
    runs: Annotated[tuple[WorkloadRun, ...], Field(description="Every run, in order")]

    def to_json(self) -> str:
        """The document as it is written to a file."""
        return self.model_dump_json(indent=2) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes) -> "Validation":
        """Read what `to_json` wrote; raises pydantic.ValidationError on anything else."""
        return cls.model_validate_json(text)


def schema_text() -> str:
    """The JSON Schema of the document (`heapwright.artefacts.schemas`)."""
    return schema_text_of(Validation, "validation")
