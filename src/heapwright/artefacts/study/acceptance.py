# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The bar that one level of a factor is held to: what a study file asks, and what came out.

`[bar]` names the level (an allocator). Each `[[bar.line]]` names a response, the rivals, and how
far the level may be from them. It may be that far from all of them, so from the best.
`analysis.findings.acceptance` judges it; docs/reference/findings.md says how.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictFloat,
    StrictInt,
    StrictStr,
    model_validator,
)

from heapwright.artefacts.study.finding import Name, Names
from heapwright.artefacts.study_analysis.terms import Frozen

Share = Annotated[StrictInt | StrictFloat, Field(gt=0)]


class _Asked(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class AcceptanceLine(_Asked):
    """`[[bar.line]]`: one requirement on the level."""

    words: StrictStr
    response: StrictStr
    against: Annotated[
        Names, Field(description="Rivals of this line; empty: all of the bar. The best counts")
    ] = ()
    at_most: Annotated[
        Share | None,
        Field(description="The response over that of the best rival, where less is better"),
    ] = None
    at_least: Annotated[Share | None, Field(description="The same, where more is better")] = None
    each: Annotated[
        tuple[StrictStr, ...],
        Field(
            description="Factors: asked at every combination of their levels; empty: of the "
            "geometric mean"
        ),
    ] = ()
    where: Annotated[
        dict[str, Names], Field(description="Only treatments with these levels; empty: all")
    ] = {}
    but: Annotated[
        dict[str, Names], Field(description="No treatments with these levels; empty: all")
    ] = {}

    @property
    def limit(self) -> float:
        limit = self.at_least if self.at_most is None else self.at_most
        assert limit is not None  # one of the two is there
        return float(limit)

    @property
    def asked(self) -> str:
        """As in: at most 0.97."""
        return f"at {'least' if self.at_most is None else 'most'} {self.limit:.2f}"

    def factors(self) -> Iterator[str]:
        """Every factor that the line names."""
        yield from (*self.each, *self.where, *self.but)

    def about(self, levels: Mapping[str, str]) -> bool:
        """Whether it is about a treatment with these levels."""
        return all(levels[factor] in names for factor, names in self.where.items()) and not any(
            levels[factor] in names for factor, names in self.but.items()
        )

    @model_validator(mode="after")
    def _one_limit(self) -> Self:
        if (self.at_most is None) == (self.at_least is None):
            raise ValueError("exactly one of `at_most` and `at_least` is needed")
        return self


class Acceptance(_Asked):
    """`[bar]`: what one level of a factor is held to."""

    factor: StrictStr = "allocator"
    level: Annotated[Name, Field(description="The level that is held to it")]
    rivals: Annotated[Names, Field(description="Empty: all other levels")] = ()
    by: Annotated[
        StrictStr | None,
        Field(description="A factor whose levels count alike in every mean; null: treatments do"),
    ] = None
    lines: Annotated[tuple[AcceptanceLine, ...], Field(alias="line", min_length=1)]


class Met(StrEnum):
    """Whether a line of the bar is met."""

    MET = "met"
    NOT = "not met"
    UNKNOWN = "cannot be told"


class AcceptanceFigure(Frozen):
    """The level's response over that of one rival, in one place."""

    scope: Annotated[dict[str, str], Field(description="Factor to level; empty: the mean")]
    rival: str
    ratio: float
    low: float | None = None
    high: float | None = None
    blocks: int = 0


class AcceptanceResult(Frozen):
    """What one line comes to: the figures of its worst place, against the best rival there."""

    words: str
    response: str
    asked: Annotated[str, Field(description="As in: at most 0.97")]
    verdict: Met
    ratio: float | None
    low: Annotated[
        float | None, Field(description="Of the worst of all figures, at the bar's confidence")
    ] = None
    high: float | None = None
    rival: Annotated[str, Field(description="The best where the figure is worst")] = ""
    scope: dict[str, str] = Field(default_factory=dict)
    figures: Annotated[tuple[AcceptanceFigure, ...], Field(description="The worst first")] = ()
    why: Annotated[str, Field(description="What takes no part, or spoils it")] = ""


class AcceptanceTable(Frozen):
    """What `[bar]` comes to."""

    factor: str
    level: str
    rivals: Annotated[tuple[str, ...], Field(description="That were run")]
    confidence: float
    verdict: Met
    lines: tuple[AcceptanceResult, ...]
