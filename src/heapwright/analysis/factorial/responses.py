# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""One response of a study, from its runs to its part of the document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from heapwright.analysis.factorial.exponents import can_scale, exponents
from heapwright.analysis.factorial.grid import Grid, grid
from heapwright.analysis.factorial.model import Model, model
from heapwright.analysis.factorial.observed import Observed, Scale, good_runs, observe
from heapwright.analysis.factorial.rankings import Question, rank, scopes
from heapwright.analysis.factorial.sections import section
from heapwright.analysis.factorial.subject import Response, Subject
from heapwright.artefacts.study_analysis.document import (
    CellFigures,
    Exponent,
    Ranking,
    ResponseAnalysis,
    Settings,
)
from heapwright.artefacts.study_analysis.terms import Section
from heapwright.base.polars_package import pl


@dataclass(frozen=True, slots=True, eq=False)
class Analysed:
    """A response's part of the document, and what others compare it by; None: it has no runs.

    `box` has the allocators set apart; None where there is no such factor.
    """

    document: ResponseAnalysis
    model: Model | None = None
    box: Grid | None = None


def analyse_response(
    frame: pl.DataFrame, subject: Subject, response: Response, failed: Mapping[str, int]
) -> Analysed:
    """Analyse one response; `failed` has the bad runs of each treatment, by its id."""
    good = good_runs(frame)
    with_value = good.filter(pl.col(response.name).is_finite())
    scale, notes = _scale(with_value, response)
    found: dict[str, object] = {}
    this = box = None
    if not with_value.height:
        notes.append(f"no good run has a value of {response.name}")
    else:
        observed = observe(frame, subject.factors, response.name, scale)
        this = model(observed, subject.settings.interactions)
        column = subject.allocator_column
        box = grid(this, column) if column is not None else None
        if column is not None and box is None:
            notes.append("there are too many combinations to rank the allocators in each")
        found = {
            "cells": _cells(with_value, subject, response.name, observed),
            "overall": section(this, subject.settings) if observed.runs > 1 else None,
            "allocators": _by_allocator(observed, subject),
            "rankings": _rankings(this, box, subject, response, failed),
            "exponents": _exponents(this, subject, response.name),
        }
    document = ResponseAnalysis(
        name=response.name,
        unit=response.unit,
        better=response.better,
        simulated=response.simulated,
        scale=scale,
        runs=with_value.height,
        missing=good.height - with_value.height,
        cells=(),
        notes=tuple(notes),
    )
    return Analysed(document.model_copy(update=found), this, box)


def _scale(runs: pl.DataFrame, response: Response) -> tuple[Scale, list[str]]:
    """The scale of the analysis, and the reason if it is not the requested one."""
    positive = bool((runs[response.name] > 0).all())
    if response.scale == "linear" or positive:
        return response.scale or "log", []
    note = (
        f"{response.name} is not above zero everywhere, so it has no logarithm: it is analysed as "
        "it is, and there are no ratios"
    )
    return "linear", [note]


def _cells(
    runs: pl.DataFrame, subject: Subject, name: str, observed: Observed
) -> tuple[CellFigures, ...]:
    """The figures of each treatment, in the order of its levels."""
    value = pl.col(name)
    modelled = value.log() if observed.scale == "log" else value
    table = runs.group_by("treatment").agg(
        *(pl.col(factor.name).first() for factor in subject.factors),
        runs=pl.len(),
        mean=modelled.mean().exp() if observed.scale == "log" else modelled.mean(),
        arithmetic=value.mean(),
        median=value.median(),
        smallest=value.min(),
        largest=value.max(),
        spread=modelled.std(),
    )
    place = {ident: tuple(row) for ident, row in zip(observed.ids, observed.levels, strict=True)}
    rows = sorted(table.iter_rows(named=True), key=lambda row: place[row["treatment"]])
    names = [factor.name for factor in subject.factors]
    return tuple(
        CellFigures(
            levels={factor: row[factor] for factor in names},
            **{key: each for key, each in row.items() if key not in names},
        )
        for row in rows
    )


def _by_allocator(observed: Observed, subject: Subject) -> tuple[Section, ...]:
    """A section for each level of the allocators' factor with two treatments at least."""
    column = subject.allocator_column
    if column is None or len(np.unique(observed.levels[:, column])) < 2:
        return ()
    found = []
    for number, name in enumerate(subject.factors[column].levels):
        mine = observed.levels[:, column] == number
        if int(mine.sum()) > 1:
            part = model(observed.only(mine), subject.settings.interactions)
            found.append(section(part, subject.settings, name))
    return tuple(found)


def _rankings(
    this: Model,
    box: Grid | None,
    subject: Subject,
    response: Response,
    failed: Mapping[str, int],
) -> tuple[Ranking, ...]:
    if box is None:
        return ()
    settings = subject.settings
    bad = np.array([failed.get(ident, 0) for ident in this.observed.ids], dtype=np.int64)
    question = Question(
        baseline=subject.baseline,
        better=response.better,
        confidence=settings.confidence,
        resamples=settings.resamples,
        seed=settings.seed,
        failed=box.by_treatment(bad),
    )
    found = (rank(this, box, scope, question) for scope in scopes(this, box))
    return tuple(each for each in found if each is not None)


def _exponents(this: Model, subject: Subject, response: str) -> tuple[Exponent, ...]:
    """By each quantity, or by those that the study names for this response."""
    settings: Settings = subject.settings
    wanted = {by for name, by in settings.scaling if name == response}
    found: list[Exponent] = []
    for column in this.observed.varied():
        name = this.observed.factors[column].name
        if not can_scale(this, column) or (settings.scaling and name not in wanted):
            continue
        box = grid(this, column)
        if box is not None:
            found += exponents(this, box, subject.allocator_column, settings)
    return tuple(found)
