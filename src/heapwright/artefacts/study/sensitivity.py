# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The sensitivity of responses to the level of a factor: the question of a study file, and the
result.

`[care]` names the factor whose levels are exchanged (allocators) and the one by whose levels it is
judged (programs). `analysis.findings.sensitivity` judges it; docs/reference/findings.md says how.
"""

from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StrictFloat, StrictInt, StrictStr

from heapwright.artefacts.study_analysis.terms import Frozen


class Sensitivity(BaseModel):
    """`[care]`: does it matter which level of a factor there is, for each level of another?"""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    factor: Annotated[StrictStr, Field(description="Its levels are exchanged for its baseline")] = (
        "allocator"
    )
    by: Annotated[StrictStr, Field(description="The factor that has a verdict for each level")]
    responses: Annotated[
        tuple[StrictStr, ...], Field(description="Empty: all that have a better side")
    ] = ()
    beside: Annotated[
        tuple[StrictStr, ...], Field(description="Responses that are shown and do not decide")
    ] = ()
    margin: Annotated[
        StrictInt | StrictFloat | None,
        Field(
            gt=0, lt=1, description="Differences up to this share do not matter; null: [analysis]"
        ),
    ] = None


class SensitivityVerdict(StrEnum):
    """The verdict."""

    YES = "cares"
    NO = "does not care"
    UNKNOWN = "cannot be told"


class Shift(Frozen):
    """One level against the baseline, in one response."""

    level: str
    ratio: Annotated[float, Field(description="Its response over that of the baseline")]
    low: Annotated[
        float | None, Field(description="Simultaneous over all figures of the row; null: none")
    ] = None
    high: float | None = None
    runs: int = 0


class SensitivityOfResponse(Frozen):
    """One response of a row."""

    response: str
    cares: SensitivityVerdict
    base: Annotated[float, Field(description="Geometric mean under the baseline")]
    shifts: Annotated[tuple[Shift, ...], Field(description="The best first")]
    why: Annotated[str, Field(description="What could not be held against the baseline")] = ""


class SensitivityRow(Frozen):
    """The verdict at one level."""

    level: str
    cares: SensitivityVerdict
    words: Annotated[str, Field(description="The verdict as a sentence")]
    responses: Annotated[
        tuple[SensitivityOfResponse, ...],
        Field(description="Those that there are here, and no others; what is beside as well"),
    ]


class SensitivityTable(Frozen):
    """What `[care]` comes to."""

    factor: str
    baseline: str
    by: str
    responses: tuple[str, ...]
    beside: tuple[str, ...] = ()
    margin: float
    confidence: float
    rows: tuple[SensitivityRow, ...]
