# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The analysis of a made-up study: the simplest statistics that fill the document.

Plain means, intervals of two standard errors; what the report says is tested, not what the
analysis computes.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product

import numpy as np
import polars as pl

from heapwright.artefacts.study_analysis.document import (
    Agreement,
    Best,
    CellFigures,
    Exponent,
    FactorInfo,
    Failure,
    ParetoFront,
    ParetoPoint,
    RankedBy,
    Ranking,
    RankingEntry,
    ResponseAnalysis,
    Settings,
    StudyAnalysis,
    StudySummary,
    Verdict,
)
from heapwright.artefacts.study_analysis.terms import (
    AnovaTerm,
    Diagnostics,
    Mean,
    MeanTable,
    Pair,
    Section,
)
from heapwright.artefacts.study_results.runs import (
    Measured,
    StudyDesign,
)

MIB = float(1 << 20)


def table_of(good: pl.DataFrame, factors: Sequence[str], response: str) -> MeanTable:
    log = pl.col(response).log()
    found = good.group_by(factors, maintain_order=True).agg(
        log.mean().alias("m"),
        (2 * log.std() / pl.len().sqrt()).fill_null(0).alias("h"),
        pl.len().alias("n"),
        pl.col("treatment").n_unique().alias("t"),
    )
    rows = tuple(
        Mean(
            levels=tuple(row[f] for f in factors),
            mean=float(np.exp(row["m"])),
            low=float(np.exp(row["m"] - row["h"])),
            high=float(np.exp(row["m"] + row["h"])),
            runs=row["n"],
            treatments=row["t"],
            group="abcdefghijklmnopqrstuvwxyz"[place % 26],
        )
        for place, row in enumerate(found.iter_rows(named=True))
    )
    return MeanTable(factors=tuple(factors), rows=rows)


def section_of(
    good: pl.DataFrame, factors: Sequence[str], response: str, allocator: str | None = None
) -> Section:
    names = [*factors, *(":".join(pair) for pair in combinations(factors, 2))]
    terms = [
        AnovaTerm(
            term=name,
            kind="factors",
            df=2,
            sum_sq=1.5,
            mean_sq=0.75,
            f=30.0 - at,
            p=0.001 * at,
            eta_sq=0.4 / (at + 1),
            partial_eta_sq=0.6,
            rank_f=29.0,
            rank_p=0.0,
        )
        for at, name in enumerate(names)
    ]
    terms.append(
        AnovaTerm(term="residual", kind="residual", df=90, sum_sq=0.2, mean_sq=0.002, eta_sq=0.05)
    )
    first = factors[0]
    levels = good[first].unique(maintain_order=True)
    return Section(
        allocator=allocator,
        runs=good.height,
        treatments=good["treatment"].n_unique(),
        blocks=good["block"].n_unique(),
        balanced=allocator is None,
        sums="sequential",
        df=90,
        residual_sd=0.03,
        total_sum_sq=4.0,
        anova=tuple(terms),
        diagnostics=Diagnostics(
            quantiles=tuple((x / 20, x / 19) for x in range(-40, 41)),
            warnings=() if allocator else ("The residuals are <not> normal.",),
        ),
        means=tuple(
            table_of(good, list(names), response)
            for many in (1, 2)
            for names in combinations(factors, many)
        ),
        pairs=tuple(
            Pair(factor=first, one=one, other=other, difference=1.2, low=1.1, high=1.3, p=0.01)
            for one, other in combinations(levels, 2)
        ),
    )


def ranking_of(
    good: pl.DataFrame, response: str, baseline: str, scope: Mapping[str, str]
) -> Ranking:
    for factor, level in scope.items():
        good = good.filter(pl.col(factor) == level)
    means = table_of(good, ["allocator"], response)
    ordered = sorted(means.rows, key=lambda row: row.mean)
    under = next((row.mean for row in means.rows if row.levels == (baseline,)), None)
    return Ranking(
        scope=dict(scope),
        cells=max(1, good["treatment"].n_unique() // len(ordered)),
        blocks=good["block"].n_unique(),
        df=90,
        method="dunnett-t",
        entries=tuple(
            RankingEntry(
                allocator=row.levels[0],
                place=place,
                mean=row.mean,
                percent_over_best=100 * (row.mean / ordered[0].mean - 1),
                group="abcdefgh"[place - 1],
                ratio=row.mean / under if under else None,
                low=0.98 * row.mean / under if under else None,
                high=1.02 * row.mean / under if under else None,
                runs=row.runs,
                failed=0,
            )
            for place, row in enumerate(ordered, start=1)
        ),
    )


def scopes(design: StudyDesign, *, every_cell: bool) -> Iterator[dict[str, str]]:
    others = [f for f in design.factors if f.name != "allocator"]
    yield {}
    for factor in others:
        yield from ({factor.name: level} for level in factor.levels)
    if every_cell:
        for levels in product(*(f.levels for f in others)):
            yield dict(zip((f.name for f in others), levels, strict=True))


def response_of(
    design: StudyDesign, good: pl.DataFrame, measured: Measured, *, every_cell: bool
) -> ResponseAnalysis:
    factors = [f.name for f in design.factors]
    has = "allocator" in factors
    own = [name for name in factors if name != "allocator"]
    good = good.drop_nulls(measured.name)
    cells = table_of(good, ["treatment"], measured.name)
    levels = {cell.id: cell.levels for cell in design.treatments}
    allocators = design.allocator_levels
    return ResponseAnalysis(
        name=measured.name,
        unit=measured.unit,
        better=measured.better,
        scale="log",
        runs=good.height,
        cells=tuple(
            CellFigures(
                treatment=row.levels[0],
                levels=levels[row.levels[0]],
                runs=row.runs,
                mean=row.mean,
                arithmetic=row.mean,
                median=row.mean,
                smallest=row.low or 0,
                largest=row.high or 0,
                spread=0.03,
            )
            for row in cells.rows
        ),
        overall=section_of(good, factors, measured.name),
        allocators=tuple(
            section_of(good.filter(pl.col("allocator") == name), own, measured.name, name)
            for name in allocators
            if own
        ),
        rankings=tuple(
            ranking_of(good, measured.name, design.baseline, scope)
            for scope in scopes(design, every_cell=every_cell)
        )
        if has
        else (),
        exponents=tuple(
            Exponent(
                by=factors[0],
                allocator=name,
                exponent=0.98,
                low=0.95,
                high=1.01,
                levels=("1", "4"),
                blocks=4,
                cells=3,
                explained=0.99,
                bend_p=0.01,
            )
            for name in (None, *allocators)
        ),
        notes=(f"a note on {measured.name}",),
    )


def analysis_of(
    design: StudyDesign, frame: pl.DataFrame, *, every_cell: bool = True
) -> StudyAnalysis:
    good = frame.filter((pl.col("outcome") == "ok") & ~pl.col("warmup"))
    bad = frame.filter(pl.col("outcome") != "ok")
    has = any(f.name == "allocator" for f in design.factors)
    counts = dict(frame.group_by("outcome").len().sort("outcome", descending=True).iter_rows())
    responses = [
        response_of(design, good, each, every_cell=every_cell) for each in design.responses
    ]
    levels = {cell.id: cell.levels for cell in design.treatments}
    names = [each.name for each in design.responses]
    return StudyAnalysis(
        heapwright_version="0.1.0",
        study=StudySummary(
            name=design.study,
            title=design.title,
            sha256=design.sha256,
            seed=design.seed,
            hosts=("bench<1>",),
            treatments=len(design.treatments),
            blocks=design.blocks,
            planned=design.planned + 5,
            runs=frame.height,
            warmup=int(frame["warmup"].sum()),
            ok=good.height,
        ),
        settings=Settings(),
        factors=tuple(
            FactorInfo(name=f.name, levels=f.levels, values=f.values) for f in design.factors
        ),
        allocator_factor="allocator" if has else None,
        baseline=design.baseline,
        outcomes=counts,
        failures=tuple(
            Failure(treatment=treatment, levels=levels[treatment], ok=0, outcomes={"crashed": n})
            for treatment, n in bad.group_by("treatment", maintain_order=True).len().iter_rows()
        ),
        verdict=Verdict(
            text="glibc is <best> in all.", best=(Best(response=names[0], allocators=("glibc",)),)
        ),
        responses=tuple(responses),
        pareto=(
            ParetoFront(
                x=names[0],
                y=names[1],
                points=tuple(
                    ParetoPoint(
                        allocator=name, x=0.01 * (at + 1), y=MIB * (9 - at), on_front=at < 2
                    )
                    for at, name in enumerate(design.allocator_levels)
                ),
            ),
        )
        if has and len(names) > 1
        else (),
        agreements=(
            Agreement(
                one=RankedBy(response=names[0]),
                other=RankedBy(response=names[-1]),
                allocators=3,
                tau=0.4,
                low=0.1,
                high=0.7,
                p=0.2,
            ),
        ),
        notes=("a note of <the> analysis",),
    )
