# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The analysis of a study: what `heapwright analyse` makes of the runs that are stored.

This is the document that `-o` writes; docs/reference/analysis-json.md explains every field, and
its JSON Schema is `schema_text()`. The runs themselves stay in the results folder; the
document has what was concluded from them, and can be made from them again.

Invariants: Immutable. Reading back what was written gives an equal object. An unavailable figure is
null, never zero, and a note gives the reason. Levels of factors are in the order of the study.
`schema_version` goes up when a reader of the old form would be misled.

Versions:
    1  the first
"""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from heapwright.artefacts.study.acceptance import AcceptanceTable
from heapwright.artefacts.study.published import PublishedTable
from heapwright.artefacts.study.sensitivity import SensitivityTable
from heapwright.artefacts.study.substitution import SubstitutionTable
from heapwright.artefacts.study_analysis.answers import FindingResult
from heapwright.artefacts.study_analysis.terms import Frozen, Section
from heapwright.base.json_schema import schema_text_of

SCHEMA_VERSION: Literal[1] = 1

Better = Literal["lower", "higher", "none"]


class FactorInfo(Frozen):
    """What was varied."""

    name: str
    levels: tuple[str, ...]
    values: Annotated[
        tuple[float, ...], Field(description="The levels as numbers; empty: not quantitative")
    ] = ()
    unit: str = ""


class StudySummary(Frozen):
    """Which results these are, and how far the study came."""

    name: str
    title: str = ""
    scale: Annotated[str, Field(description="Of the study file; empty: the study as it stands")] = (
        ""
    )
    sha256: Annotated[str, Field(description="Of the study file")] = ""
    seed: Annotated[int | None, Field(description="Of the order of the runs")] = None
    hosts: tuple[str, ...] = ()
    treatments: int
    blocks: Annotated[int, Field(description="With measured runs")]
    planned: Annotated[int | None, Field(description="Runs of the whole design")] = None
    runs: Annotated[int, Field(description="That were found")]
    warmup: Annotated[int, Field(description="Of these, discarded as warm-up")]
    ok: Annotated[int, Field(description="Measured runs that ended well: what is analysed")]


class Settings(Frozen):
    """The options of the analysis."""

    confidence: float = 0.95
    margin: Annotated[float, Field(description="Differences up to this share do not matter")] = 0.02
    interactions: Annotated[
        tuple[tuple[str, ...], ...], Field(description="Of three factors, by name")
    ] = ()
    scaling: Annotated[
        tuple[tuple[str, str], ...],
        Field(description="Response and factor; empty: all responses by all quantities"),
    ] = ()
    seed: Annotated[int, Field(description="Of the resamples of blocks")] = 1
    resamples: int = 1999


class Failure(Frozen):
    """A treatment some of whose runs did not end well, warm-ups too."""

    treatment: str
    levels: dict[str, str]
    ok: Annotated[int, Field(description="Measured runs that ended well")]
    outcomes: Annotated[dict[str, int], Field(description="The others, by outcome")]


class CellFigures(Frozen):
    """One treatment's runs in one response, in its unit; nothing is modelled here."""

    treatment: str
    levels: dict[str, str]
    runs: Annotated[int, Field(ge=1, description="Good measured runs")]
    mean: Annotated[float, Field(description="Geometric where the scale is log, else arithmetic")]
    arithmetic: float
    median: float
    smallest: float
    largest: float
    spread: Annotated[
        float | None, Field(description="Standard deviation, of the logarithm where scale is log")
    ]


class RankingEntry(Frozen):
    """One allocator in a ranking."""

    allocator: str
    place: Annotated[
        int, Field(ge=1, description="1 is best; by the means, regardless of the groups")
    ]
    mean: Annotated[float, Field(description="As in the cells, each combination counting alike")]
    percent_over_best: Annotated[
        float | None, Field(description="How much worse than the first; null: no ratio scale")
    ]
    group: Annotated[
        str,
        Field(
            description="Compact letters: allocators that share one do not differ, a is best; "
            "empty where there was nothing to judge by"
        ),
    ] = ""
    ratio: Annotated[float | None, Field(description="To the baseline; null: none to refer to")] = (
        None
    )
    low: Annotated[
        float | None, Field(description="Of the ratio, simultaneous over the allocators here")
    ] = None
    high: float | None = None
    runs: Annotated[int, Field(ge=1, description="Good runs behind it")]
    failed: Annotated[int, Field(description="Runs of the same treatments that did not end well")]


class Ranking(Frozen):
    """The allocators in order: overall, at a level of a factor, or in one combination of levels."""

    scope: Annotated[dict[str, str], Field(description="Factor to level; empty: overall")]
    cells: Annotated[
        int, Field(ge=1, description="Combinations of the other factors that are averaged")
    ]
    left_out: Annotated[
        int, Field(description="Combinations not averaged because an allocator has no good run")
    ] = 0
    absent: Annotated[
        tuple[str, ...], Field(description="Allocators without a good run in any combination")
    ] = ()
    blocks: Annotated[int, Field(description="That the intervals are from")]
    df: Annotated[int, Field(description="Of the scatter that the groups are judged by")]
    method: Annotated[
        Literal["dunnett-t", "dunnett-bootstrap", "none"],
        Field(description="Where the intervals of the ratios are from"),
    ]
    entries: tuple[RankingEntry, ...]

    def entry(self, allocator: str) -> RankingEntry | None:
        return next((each for each in self.entries if each.allocator == allocator), None)


class Exponent(Frozen):
    """How a response grows with a quantity: the slope of its logarithm on the other logarithm."""

    by: Annotated[str, Field(description="The factor")]
    allocator: Annotated[str | None, Field(description="null: all together")] = None
    exponent: Annotated[float, Field(description="1: doubles with it; 0: does not depend on it")]
    low: float | None
    high: float | None
    levels: Annotated[tuple[str, ...], Field(description="That the line goes through")]
    blocks: int
    cells: Annotated[int, Field(description="Combinations of the other factors averaged")]
    explained: Annotated[
        float | None, Field(description="Share of the means' variance that the line explains")
    ]
    bend_p: Annotated[
        float | None,
        Field(description="Chance of such a bend were it a straight line; null: not testable"),
    ] = None


class ResponseAnalysis(Frozen):
    """Everything about one response."""

    name: str
    unit: str = ""
    better: Better = "lower"
    simulated: Annotated[bool, Field(description="Counted by a simulation of the machine")] = False
    scale: Annotated[
        Literal["log", "linear"],
        Field(description="log: effects are factors, means are geometric; linear: differences"),
    ]
    runs: Annotated[int, Field(description="Good measured runs with a value")]
    missing: Annotated[int, Field(description="Good measured runs without one")] = 0
    cells: Annotated[tuple[CellFigures, ...], Field(description="One a treatment with a value")]
    overall: Annotated[
        Section | None, Field(description="Over all allocators; null: nothing to analyse")
    ] = None
    allocators: Annotated[
        tuple[Section, ...], Field(description="Each allocator by itself, in the study's order")
    ] = ()
    rankings: Annotated[tuple[Ranking, ...], Field(description="The overall one first")] = ()
    exponents: tuple[Exponent, ...] = ()
    notes: tuple[str, ...] = ()

    def section(self, allocator: str | None = None) -> Section | None:
        """What is said of one allocator, or overall."""
        if allocator is None:
            return self.overall
        return next((each for each in self.allocators if each.allocator == allocator), None)

    def ranking(self, scope: Mapping[str, str] | None = None) -> Ranking | None:
        """The ranking of one scope, or overall."""
        wanted = dict(scope or {})
        return next((each for each in self.rankings if each.scope == wanted), None)


class ParetoPoint(Frozen):
    allocator: str
    x: float
    y: float
    on_front: bool


class ParetoFront(Frozen):
    """Two responses against each other, by their overall means."""

    x: Annotated[str, Field(description="A response")]
    y: str
    points: tuple[ParetoPoint, ...]
    left_out: Annotated[
        tuple[str, ...], Field(description="Allocators with runs that failed, or without a mean")
    ] = ()

    @property
    def front(self) -> tuple[str, ...]:
        return tuple(point.allocator for point in self.points if point.on_front)


class RankedBy(Frozen):
    """Which ranking: of what, where."""

    response: str
    scope: dict[str, str] = Field(default_factory=dict, description="Empty: overall")


class Agreement(Frozen):
    """How far two rankings of the same allocators agree: Kendall's tau-b."""

    one: RankedBy
    other: RankedBy
    allocators: Annotated[int, Field(description="That are in both")]
    tau: Annotated[float, Field(ge=-1, le=1, description="1: the same order, -1: the opposite")]
    low: Annotated[float | None, Field(description="Interval by bootstrap over blocks")]
    high: float | None
    p: Annotated[float | None, Field(description="Chance of so much were the orders unrelated")]


class Best(Frozen):
    """The best level in one response, overall."""

    response: str
    allocators: Annotated[
        tuple[str, ...], Field(description="The first, then those that share its letter")
    ]


class Verdict(Frozen):
    """What the study says, first of all."""

    text: Annotated[str, Field(description="One sentence or two")]
    best: tuple[Best, ...] = ()


class StudyAnalysis(Frozen):
    """The whole document."""

    schema_version: Literal[1] = SCHEMA_VERSION
    heapwright_version: str
    study: StudySummary
    settings: Settings
    factors: tuple[FactorInfo, ...]
    allocator_factor: Annotated[
        str | None, Field(description="The factor whose levels are ranked; null: there is none")
    ]
    baseline: Annotated[str, Field(description="Its level that ratios refer to; may be empty")] = ""
    outcomes: Annotated[dict[str, int], Field(description="All runs, warm-ups too, by outcome")]
    failures: tuple[Failure, ...] = ()
    verdict: Verdict
    responses: tuple[ResponseAnalysis, ...]
    pareto: tuple[ParetoFront, ...] = ()
    agreements: tuple[Agreement, ...] = ()
    findings: tuple[FindingResult, ...] = ()
    care: Annotated[
        SensitivityTable | None,
        Field(description="Sensitivity to the level; null: not requested"),
    ] = None
    choice: Annotated[
        SubstitutionTable | None,
        Field(description="Whether one level is worth it; null: not asked"),
    ] = None
    bar: Annotated[
        AcceptanceTable | None,
        Field(description="Whether a level meets its bar; null: there is none"),
    ] = None
    published: Annotated[
        tuple[PublishedTable, ...],
        Field(description="Published tables, with the measured figures beside"),
    ] = ()
    notes: Annotated[tuple[str, ...], Field(description="What is unusual about these data")] = ()

    def response(self, name: str) -> ResponseAnalysis | None:
        return next((each for each in self.responses if each.name == name), None)

    def to_json(self) -> str:
        """The document as it is written to a file."""
        return self.model_dump_json(indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes) -> "StudyAnalysis":
        """Read what `to_json` wrote; raises pydantic.ValidationError on anything else."""
        return cls.model_validate_json(text)


def schema_text() -> str:
    """The JSON Schema of the document (`heapwright.artefacts.schemas`)."""
    return schema_text_of(StudyAnalysis, "analysis")
