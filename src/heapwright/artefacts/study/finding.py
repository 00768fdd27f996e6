# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Published findings, as a study file states them: in words, and as rules that runs can answer.

A rule names a response and levels of factors, and says what must be so. `analysis.findings` answers
it with an interval over blocks. It *holds* if the whole interval lies where the rule says. It *does
not hold* if all of it lies on the other side. Otherwise it is undecided. The page
docs/reference/findings.md has each kind with an example. Several rules in one finding must all
hold.

Levels are written as in the factor's own table: by name, or by the value that is the name.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import (
    BeforeValidator,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    model_validator,
)

from heapwright.artefacts.models import InputModel
from heapwright.artefacts.study.factor import Scalar, scalar_text

Number = StrictInt | StrictFloat
_Any = TypeVar("_Any")


def _name(value: object) -> object:
    """A level as its name: 4 is "4"."""
    return scalar_text(value) if isinstance(value, bool | int | float) else value


def _names(value: object) -> object:
    """One level as a tuple of one, and every level as its name."""
    if isinstance(value, list | tuple):
        return tuple(_name(each) for each in value)
    return (_name(value),)


def _groups(value: object) -> object:
    return tuple(_names(each) for each in value) if isinstance(value, list | tuple) else value


Name = Annotated[StrictStr, BeforeValidator(_name, json_schema_input_type=Scalar)]
Names = Annotated[
    tuple[StrictStr, ...],
    BeforeValidator(_names, json_schema_input_type=Scalar | tuple[Scalar, ...]),
]
Groups = Annotated[
    tuple[tuple[StrictStr, ...], ...],
    BeforeValidator(_groups, json_schema_input_type=tuple[Scalar | tuple[Scalar, ...], ...]),
]


class _Rule(InputModel):
    response: StrictStr
    where: Annotated[
        dict[str, Names], Field(description="Only treatments with these levels; empty: all")
    ] = {}

    def levels(self) -> Iterator[tuple[str, str]]:
        """Every factor and level that the rule names."""
        yield from _pairs(self.where)

    def factors(self) -> Iterator[str]:
        """Every factor that the rule names."""
        yield from self.where


class _Bounded(_Rule):
    above: Annotated[Number | None, Field(description="It must be more than this")] = None
    below: Annotated[Number | None, Field(description="It must be less than this")] = None

    @model_validator(mode="after")
    def _some_bound(self) -> Self:
        if self.above is None and self.below is None:
            raise ValueError("neither `above` nor `below` is given")
        if self.above is not None and self.below is not None and self.above >= self.below:
            raise ValueError("nothing is above the one and below the other")
        return self


class Ratio(_Bounded):
    """Response under `of` over that under `to`: geometric mean over what else is varied."""

    kind: Literal["ratio"]
    of: Annotated[dict[str, Name], Field(min_length=1)]
    to: Annotated[dict[str, Name], Field(min_length=1)]

    def levels(self) -> Iterator[tuple[str, str]]:
        yield from super().levels()
        yield from self.of.items()
        yield from self.to.items()

    def factors(self) -> Iterator[str]:
        yield from (*self.where, *self.of, *self.to)

    @model_validator(mode="after")
    def _same_factors(self) -> Self:
        if set(self.of) != set(self.to):
            raise ValueError("`of` and `to` name different factors")
        return self


class Value(_Bounded):
    """Arithmetic mean of the response, in its unit."""

    kind: Literal["value"]


class Growth(_Bounded):
    """Exponent of a quantitative factor: 1 is proportional, 0 does not depend on it."""

    kind: Literal["growth"]
    by: StrictStr

    def factors(self) -> Iterator[str]:
        yield from (*self.where, self.by)


class Ranking(_Rule):
    """Levels of a factor, the best first (the least, if neither direction is better)."""

    kind: Literal["ranking"]
    factor: StrictStr = "allocator"
    order: Annotated[
        Groups, Field(description="From the best; [a, [b, c]]: nothing is said of b against c")
    ] = ()
    first: Annotated[Names, Field(description="Better than all others")] = ()
    last: Annotated[Names, Field(description="Worse than all others")] = ()

    def levels(self) -> Iterator[tuple[str, str]]:
        yield from super().levels()
        for group in (*self.order, self.first, self.last):
            yield from ((self.factor, level) for level in group)

    def factors(self) -> Iterator[str]:
        yield from (*self.where, self.factor)

    @model_validator(mode="after")
    def _some_order(self) -> Self:
        if sum(map(bool, (self.order, self.first, self.last))) != 1:
            raise ValueError("exactly one of `order`, `first` and `last` is needed")
        if self.order and len(self.order) < 2:
            raise ValueError("an order has two places at least")
        return self


class Influence(_Rule):
    """Whether levels of a factor differ in the response by more than the margin."""

    kind: Literal["influence"]
    factor: StrictStr
    expected: StrictBool
    margin: Annotated[
        Number | None, Field(gt=0, lt=1, description="A share; null: the study's")
    ] = None

    def factors(self) -> Iterator[str]:
        yield from (*self.where, self.factor)


class Even(_Rule):
    """Under one level of `factor` the response varies least along another factor."""

    kind: Literal["even"]
    factor: StrictStr = "allocator"
    level: Name
    along: StrictStr

    def levels(self) -> Iterator[tuple[str, str]]:
        yield from super().levels()
        yield self.factor, self.level

    def factors(self) -> Iterator[str]:
        yield from (*self.where, self.factor, self.along)


Rule = Annotated[Ratio | Value | Growth | Ranking | Influence | Even, Field(discriminator="kind")]


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, Mapping) else value


class Finding(InputModel):
    """`[[finding]]`: what was published, where, and the rules that say whether it holds here."""

    id: Annotated[StrictStr, Field(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=64)]
    words: StrictStr
    published: Annotated[StrictStr, Field(description="The figure as it was printed")] = ""
    source: StrictStr = ""
    today: Annotated[
        StrictStr, Field(description="What is otherwise now, and what stands for what was there")
    ] = ""
    test: Annotated[
        tuple[Rule, ...],
        BeforeValidator(_listed, json_schema_input_type=Rule | tuple[Rule, ...]),
        Field(min_length=1),
    ]


def _pairs(where: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[str, str]]:
    for factor, levels in where.items():
        yield from ((factor, level) for level in levels)
