# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A part of a study's analysis, once for all allocators and once for each of them. It has the
analysis of variance, the means with their groups, and whether the model's assumptions hold.

Invariants as those of the whole document, `artefacts.study_analysis.document`.
"""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class Frozen(BaseModel):
    """What the parts of the document have in common."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        json_schema_serialization_defaults_required=True,
    )


class AnovaTerm(Frozen):
    """One line of the analysis of variance."""

    term: Annotated[
        str, Field(description="Factors with colons between; or host, block, remaining, residual")
    ]
    kind: Annotated[
        Literal["host", "block", "factors", "remaining", "residual"],
        Field(description="remaining: what the treatments differ in beyond the terms above"),
    ]
    df: int
    df_lost: Annotated[
        int, Field(description="Degrees of freedom that the combinations run cannot tell")
    ] = 0
    sum_sq: float
    mean_sq: Annotated[float | None, Field(description="null: no degrees of freedom")]
    f: Annotated[float | None, Field(description="Against the residual; null: not testable")] = None
    p: float | None = None
    eta_sq: Annotated[float | None, Field(description="Share of the total sum of squares")] = None
    partial_eta_sq: Annotated[
        float | None, Field(description="Share of what is left when the other terms are taken out")
    ] = None
    rank_f: Annotated[float | None, Field(description="The same on aligned ranks")] = None
    rank_p: float | None = None


class Normality(Frozen):
    """Whether the residuals are normal: Shapiro and Wilk's test, and how far they are from it."""

    w: float
    p: float
    tested: Annotated[int, Field(description="Residuals in the test: 5,000 at most, drawn")]
    skewness: float
    excess_kurtosis: float
    far_out: Annotated[float, Field(description="Share beyond four standard deviations")]


class Spread(Frozen):
    """Whether scatter is the same everywhere: Brown and Forsythe's test over treatments."""

    f: float
    p: float
    factor: Annotated[str, Field(description="Whose levels differ most in scatter")]
    widest: Annotated[str, Field(description="Its level that scatters most")]
    narrowest: str
    ratio: Annotated[
        float | None, Field(description="Of their standard deviations; null: one has none")
    ]


class Order(Frozen):
    """Whether runs that followed each other resemble each other."""

    lag_1: Annotated[float, Field(description="Correlation of a residual with the one before")]
    p: float


class Diagnostics(Frozen):
    """Whether the assumptions hold; a test that could not be made is null."""

    normality: Normality | None = None
    spread: Spread | None = None
    order: Order | None = None
    quantiles: Annotated[
        tuple[tuple[float, float], ...],
        Field(description="For a normal plot: expected, and residual in standard deviations"),
    ] = ()
    warnings: Annotated[
        tuple[str, ...], Field(description="What does not hold, in plain words; empty: all holds")
    ] = ()


class Mean(Frozen):
    """The mean over all treatments with these levels, each of which counts alike."""

    levels: Annotated[tuple[str, ...], Field(description="In the order of the table's factors")]
    mean: Annotated[float, Field(description="In the response's unit; geometric on the log scale")]
    low: Annotated[float | None, Field(description="Of this mean alone; blocks taken out")]
    high: float | None
    runs: int
    treatments: int
    group: Annotated[
        str,
        Field(
            description="Tukey's groups in this table, as letters: means that share one do not "
            "differ, a is the lowest; empty where they cannot be compared"
        ),
    ] = ""


class MeanTable(Frozen):
    """Means by one factor, or by the combinations of two or three."""

    factors: tuple[str, ...]
    rows: tuple[Mean, ...]
    note: Annotated[str, Field(description="What is unusual about it")] = ""

    def row(self, *levels: str) -> Mean | None:
        return next((each for each in self.rows if each.levels == levels), None)


class Pair(Frozen):
    """Two levels of a factor compared: Tukey's honest significant difference."""

    factor: str
    one: str
    other: str
    difference: Annotated[
        float, Field(description="one to other: a ratio on the log scale, else a difference")
    ]
    low: float | None
    high: float | None
    p: Annotated[float | None, Field(description="Adjusted for the number of pairs")]


class Section(Frozen):
    """The blocked model of one response, over all allocators or for one."""

    allocator: Annotated[str | None, Field(description="null: over all of them")] = None
    runs: int
    treatments: int
    blocks: int
    hosts: int = 1
    balanced: Annotated[bool, Field(description="Every treatment is in every block exactly once")]
    sums: Annotated[
        Literal["sequential", "type-2"],
        Field(
            description="sequential: the terms are orthogonal, so that their order and the type "
            "do not matter. type-2: each term is adjusted for all terms without it"
        ),
    ]
    df: Annotated[int, Field(description="Of the residual")]
    residual_sd: Annotated[
        float | None, Field(description="Of the logarithm on the log scale; null: unknown")
    ]
    total_sum_sq: Annotated[float, Field(description="About the mean")]
    anova: tuple[AnovaTerm, ...]
    diagnostics: Diagnostics = Diagnostics()
    means: tuple[MeanTable, ...] = ()
    pairs: Annotated[tuple[Pair, ...], Field(description="Of the levels of each factor")] = ()
    notes: tuple[str, ...] = ()

    def table(self, *factors: str) -> MeanTable | None:
        """The means by these factors, in any order of names."""
        wanted: Sequence[str] = sorted(factors)
        return next((each for each in self.means if sorted(each.factors) == wanted), None)

    def term(self, *factors: str) -> AnovaTerm | None:
        """The line of these factors, in any order of names."""
        wanted = sorted(factors)
        return next((each for each in self.anova if sorted(each.term.split(":")) == wanted), None)
