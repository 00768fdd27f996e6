# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The subject of the analysis: factors, responses and the question, without the runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from heapwright.analysis.factorial.observed import Factor, Scale
from heapwright.artefacts.study_analysis.document import Better, Settings


@dataclass(frozen=True, slots=True)
class Response:
    """A column of figures, and what is good."""

    name: str
    unit: str = ""
    better: Better = "lower"
    simulated: bool = False
    scale: Scale | None = None
    """What the study wants; None: log if all values are above zero."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The parts of a study that the analysis needs."""

    factors: tuple[Factor, ...]
    responses: tuple[Response, ...]
    allocator: str | None = None
    """The factor whose levels are ranked."""
    baseline: str = ""
    settings: Settings = field(default_factory=Settings)
    treatments: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """All treatments of the design, id to factor to level; empty: those that were run."""

    @property
    def allocator_column(self) -> int | None:
        names = [factor.name for factor in self.factors]
        return names.index(self.allocator) if self.allocator in names else None
