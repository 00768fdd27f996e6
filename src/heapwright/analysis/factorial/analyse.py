# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The whole analysis of a study: pure functions from the table of its runs to the document.

Missing data does not stop the analysis. Notes name a treatment without a good run, a response
without values, and a single block. The rest is analysed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from heapwright import __version__
from heapwright.analysis.factorial.between import agreements, pareto_fronts
from heapwright.analysis.factorial.responses import analyse_response
from heapwright.analysis.factorial.subject import Subject
from heapwright.analysis.factorial.verdict_text import verdict
from heapwright.artefacts.study_analysis.document import (
    FactorInfo,
    Failure,
    StudyAnalysis,
    StudySummary,
)
from heapwright.base.polars_package import pl

NAMED = 3
"""The number of treatments that a note names; the document has all."""


def analyse(frame: pl.DataFrame, subject: Subject, summary: StudySummary) -> StudyAnalysis:
    """Analyse all responses.

    `frame` has a row for each run. It has a column for each factor and each response, for
    `treatment`, `block`, `warmup` and `outcome`, and `host` and others if they are known. The
    counts of `summary` are filled in.
    """
    levels = _levels(frame, subject)
    failures = _failures(frame, levels)
    failed = {each.treatment: sum(each.outcomes.values()) for each in failures}
    analysed = [
        analyse_response(frame, subject, response, failed) for response in subject.responses
    ]
    responses = tuple(each.document for each in analysed)
    return StudyAnalysis(
        heapwright_version=__version__,
        study=_summary(frame, summary),
        settings=subject.settings,
        factors=tuple(
            FactorInfo(name=each.name, levels=each.levels, values=each.values, unit=each.unit)
            for each in subject.factors
        ),
        allocator_factor=subject.allocator,
        baseline=subject.baseline,
        outcomes=dict(Counter(frame["outcome"].to_list())),
        failures=failures,
        verdict=verdict(responses, subject.baseline, subject.settings.margin),
        responses=responses,
        pareto=pareto_fronts(analysed),
        agreements=agreements(analysed, subject.settings),
        notes=tuple(_notes(frame, subject, levels, failures)),
    )


def _levels(frame: pl.DataFrame, subject: Subject) -> Mapping[str, Mapping[str, str]]:
    """The levels of each treatment, of the design or of those that were run."""
    if subject.treatments:
        return subject.treatments
    names = [factor.name for factor in subject.factors]
    rows = frame.select("treatment", *names).unique("treatment", maintain_order=True)
    return {
        row["treatment"]: {name: row[name] for name in names} for row in rows.iter_rows(named=True)
    }


def _failures(frame: pl.DataFrame, levels: Mapping[str, Mapping[str, str]]) -> tuple[Failure, ...]:
    """The treatments with runs that did not end well, in the order of the design."""
    bad = (
        frame.filter(pl.col("outcome") != "ok")
        .group_by("treatment", "outcome")
        .agg(count=pl.len())
        .sort("treatment", "outcome")
    )
    outcomes: dict[str, dict[str, int]] = {}
    for treatment, outcome, count in bad.iter_rows():
        outcomes.setdefault(treatment, {})[outcome] = count
    good = dict(
        frame.filter((pl.col("outcome") == "ok") & ~pl.col("warmup"))
        .group_by("treatment")
        .agg(count=pl.len())
        .iter_rows()
    )
    return tuple(
        Failure(
            treatment=ident,
            levels=dict(named),
            ok=good.get(ident, 0),
            outcomes=outcomes[ident],
        )
        for ident, named in levels.items()
        if ident in outcomes
    )


def _summary(frame: pl.DataFrame, summary: StudySummary) -> StudySummary:
    measured = frame.filter(~pl.col("warmup"))
    hosts = sorted(frame["host"].unique().to_list()) if "host" in frame.columns else []
    return summary.model_copy(
        update={
            "hosts": tuple(hosts),
            "treatments": frame["treatment"].n_unique(),
            "blocks": measured["block"].n_unique(),
            "runs": frame.height,
            "warmup": frame.height - measured.height,
            "ok": measured.filter(pl.col("outcome") == "ok").height,
        }
    )


def _notes(
    frame: pl.DataFrame,
    subject: Subject,
    levels: Mapping[str, Mapping[str, str]],
    failures: tuple[Failure, ...],
) -> list[str]:
    said = []
    if not frame.height:
        return ["there are no runs"]
    seen = set(frame["treatment"].unique().to_list())
    missing = [ident for ident in levels if ident not in seen]
    if missing:
        said.append(
            f"{_count(len(missing), 'treatment')} of {len(levels):,} have no run yet: "
            + _named([levels[ident] for ident in missing])
        )
    never = [each for each in failures if not each.ok]
    if never:
        said.append(
            f"every measured run of {_count(len(never), 'treatment')} failed, so there is no "
            "figure: " + _named([each.levels for each in never])
        )
    partly = [each for each in failures if each.ok]
    if partly:
        said.append(
            f"some runs of {_count(len(partly), 'treatment')} failed; the figures are of the runs "
            "that did not, which may be the easier ones: "
            + _named([each.levels for each in partly])
        )
    if frame.filter(~pl.col("warmup"))["block"].n_unique() == 1:
        said.append("there is one block: nothing shows how much a run scatters")
    single = [factor.name for factor in subject.factors if frame[factor.name].n_unique() == 1]
    if single:
        said.append(f"of {', '.join(single)} only one level was run, so it has no term")
    return said


def _named(levels: list[Mapping[str, str]]) -> str:
    """Some treatments in words."""
    words = [", ".join(f"{name} {level}" for name, level in each.items()) for each in levels]
    more = len(words) - NAMED
    return "; ".join(words[:NAMED]) + (f"; and {more:,} more" if more > 0 else "")


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
