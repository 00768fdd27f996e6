# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The data of a study's page, shared by all its sections.

The analysis has the conclusions, the frame has every run, and the design has the plan. A few runs
are complete, for their memory over time and for their error output. Values of the analysis are not
computed again here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from heapwright.artefacts.run.provenance import Environment
from heapwright.artefacts.study_analysis.document import ResponseAnalysis, StudyAnalysis
from heapwright.artefacts.study_analysis.terms import MeanTable
from heapwright.artefacts.study_results.runs import Measured, StudyDesign, StudyRun
from heapwright.base.polars_package import pl
from heapwright.report.study.axes import Column, Row
from heapwright.report.study.units import Unit, unit_of

RunKey = tuple[int, str]


@dataclass(frozen=True)
class StudyView:
    """One study, or several folders of it."""

    analysis: StudyAnalysis
    design: StudyDesign
    frame: pl.DataFrame
    hosts: Mapping[str, Environment]
    study_text: str
    folders: Sequence[str] = ()
    runs: Mapping[RunKey, StudyRun] = field(default_factory=dict)
    notes: Sequence[str] = ()

    @cached_property
    def columns(self) -> dict[str, Column]:
        """The factors, by name, with the levels that runs have."""
        return {
            each.name: Column(
                each.name,
                each.levels,
                f"{each.name} ({each.unit})" if each.unit else each.name,
                ordered=bool(each.values),
            )
            for each in self.analysis.factors
        }

    @property
    def allocators(self) -> Column | None:
        """The factor whose levels are ranked."""
        name = self.analysis.allocator_factor
        return None if name is None else self.columns.get(name)

    @cached_property
    def others(self) -> list[Column]:
        """The other factors, as far as they were varied."""
        mine = self.analysis.allocator_factor
        return [
            each for each in self.columns.values() if each.name != mine and len(each.levels) > 1
        ]

    @cached_property
    def responses(self) -> list[Response]:
        """Those that can be shown: some run has a value."""
        return [Response(self, each) for each in self.analysis.responses if each.cells]

    def response(self, name: str) -> Response | None:
        return next((each for each in self.responses if each.name == name), None)

    @cached_property
    def good(self) -> pl.DataFrame:
        """Measured runs that ended well."""
        return self.frame.filter((pl.col("outcome") == "ok") & ~pl.col("warmup"))


@dataclass(frozen=True)
class Response:
    """One response, with the unit that suits its values."""

    view: StudyView
    analysis: ResponseAnalysis

    @property
    def name(self) -> str:
        return self.analysis.name

    @cached_property
    def measured(self) -> Measured:
        """As units are chosen by it."""
        return Measured(name=self.name, unit=self.analysis.unit, better=self.analysis.better)

    @cached_property
    def unit(self) -> Unit:
        return unit_of(self.measured, [cell.mean for cell in self.analysis.cells])

    @property
    def logarithmic(self) -> bool:
        return self.analysis.scale == "log"

    @property
    def title(self) -> str:
        """Of axes."""
        simulated = ", simulated" if self.analysis.simulated else ""
        return self.unit.title(f"{self.name}{simulated}")

    @property
    def words(self) -> str:
        """What it is, and whether a simulation counted it."""
        said = next(
            (each.title for each in self.view.design.responses if each.name == self.name), ""
        )
        named = f"{self.name}: {said}" if said else self.name
        return f"{named} (simulated)" if self.analysis.simulated else named

    def means(self, *factors: str) -> list[Row]:
        """The means by these factors, in drawn units; nothing if the analysis has none such."""
        mine = self.view.analysis.allocator_factor
        overall = self.analysis.overall
        whole = overall.table(*factors) if overall else None
        if whole is not None:
            return self._rows(whole, {})
        if mine not in factors or mine is None:
            return []
        rest = [name for name in factors if name != mine]
        return [
            row
            for section in self.analysis.allocators
            if (table := section.table(*rest)) is not None
            for row in self._rows(table, {self.view.columns[mine].column: section.allocator})
        ]

    def _rows(self, table: MeanTable, more: Mapping[str, str | None]) -> list[Row]:
        return [
            {
                **{
                    self.view.columns[factor].column: level
                    for factor, level in zip(table.factors, row.levels, strict=True)
                },
                **more,
                "mean": self.unit.drawn(row.mean),
                "low": self.unit.drawn(row.low),
                "high": self.unit.drawn(row.high),
                "runs": row.runs,
            }
            for row in table.rows
        ]
