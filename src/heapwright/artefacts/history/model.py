# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Series of figures over stored comparisons, and changes in them."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Found:
    """A change between two values of a series."""

    at: int
    """Index of the first value after the change."""
    alarm: int
    """Index of the value that raised the alarm."""
    ratio: float
    """Median after the change divided by the median before it."""


@dataclass(frozen=True, slots=True)
class Point:
    """One figure of one document."""

    date: str
    revision: str
    file: str
    value: float


@dataclass(frozen=True, slots=True)
class Series:
    """One figure of one candidate over the documents, in the order of their dates."""

    command: tuple[str, ...]
    machine: str
    treatment: str
    response: str
    unit: str
    relative_to: str
    """Label of the baseline; empty: the values are absolute."""
    exact: bool = False
    """The values are counts, not measurements of time or memory."""
    points: list[Point] = field(default_factory=list)

    @property
    def values(self) -> list[float]:
        return [point.value for point in self.points]


@dataclass(frozen=True, slots=True)
class Change:
    """A change in a series."""

    series: Series
    found: Found

    @property
    def first(self) -> Point:
        """The first document after the change."""
        return self.series.points[self.found.at]

    @property
    def before(self) -> Point:
        """The last document before the change."""
        return self.series.points[self.found.at - 1]
