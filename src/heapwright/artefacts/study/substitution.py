# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Whether one way of doing something is worth it: what a study file asks, and what came out.

`[choice]` names one level of a factor (a program's own allocator), its substitutes (general-purpose
allocators), and the factor by whose levels it is judged (programs).
`analysis.findings.substitution` judges it; docs/reference/findings.md says how.
"""

from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StrictFloat, StrictInt, StrictStr

from heapwright.artefacts.study.finding import Name, Names
from heapwright.artefacts.study_analysis.terms import Frozen


class Substitution(BaseModel):
    """`[choice]`: is one level of a factor worth it, judged for each level of another?"""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    factor: StrictStr = "allocator"
    custom: Annotated[Name, Field(description="The level that is judged")]
    also: Annotated[
        Names,
        Field(
            description="Levels that have the same, over something else: a rival must do as well "
            "as each of them"
        ),
    ] = ()
    general: Annotated[
        Names, Field(min_length=1, description="Its substitutes; the best one counts")
    ]
    instead: Annotated[
        Names, Field(description="Other ways, whose figures are shown and do not decide")
    ] = ()
    by: Annotated[StrictStr, Field(description="The factor that has a verdict for each level")]
    about: Annotated[
        tuple[StrictStr, ...],
        Field(description="Keys of the levels of `by` that are shown beside the verdict"),
    ] = ()
    responses: Annotated[
        tuple[StrictStr, ...], Field(description="Empty: all that have a better side")
    ] = ()
    margin: Annotated[
        StrictInt | StrictFloat | None,
        Field(
            gt=0, lt=1, description="Differences up to this share do not matter; null: [analysis]"
        ),
    ] = None


class Worth(StrEnum):
    """What the judged level is worth in one response."""

    PAYS = "pays"
    MATCHED = "is matched"
    COSTS = "costs"
    UNKNOWN = "cannot be told"


class Overall(StrEnum):
    """What it is worth in all of them."""

    WORTH = "worth it"
    TRADE = "a trade"
    NOT = "not worth it"
    UNKNOWN = "cannot be told"


class Rival(Frozen):
    """One level against the judged one, in one response."""

    level: str
    ratio: Annotated[float | None, Field(description="Its response over that of the judged level")]
    low: Annotated[float | None, Field(description="Simultaneous over all figures of the row")] = (
        None
    )
    high: float | None = None
    blocks: int = 0
    why: Annotated[str, Field(description="Why there is none, or what was left out")] = ""


class Judged(Frozen):
    """One response of a row."""

    response: str
    worth: Worth
    general: Annotated[tuple[Rival, ...], Field(description="The best first")]
    also: Annotated[
        tuple[Rival, ...], Field(description="The same over something else, to the judged level")
    ] = ()
    instead: tuple[Rival, ...] = ()
    why: str = ""

    @property
    def best(self) -> Rival | None:
        """The best substitute. None: no substitute has a figure."""
        return next((each for each in self.general if each.ratio is not None), None)


class SubstitutionRow(Frozen):
    """The verdict at one level."""

    level: str
    about: dict[str, str] = Field(default_factory=dict)
    overall: Overall
    words: Annotated[str, Field(description="The verdict as a sentence")]
    responses: tuple[Judged, ...]


class SubstitutionTable(Frozen):
    """What `[choice]` comes to."""

    factor: str
    custom: str
    by: str
    about: tuple[str, ...] = ()
    margin: float
    confidence: float
    rows: tuple[SubstitutionRow, ...]
