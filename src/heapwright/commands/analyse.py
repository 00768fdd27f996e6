# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The work of `heapwright analyse`: joins results folders, analysis and what was published."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heapwright.analysis.factorial.analyse import analyse
from heapwright.analysis.factorial.observed import Factor
from heapwright.analysis.factorial.subject import Response, Subject
from heapwright.artefacts.study_analysis.document import Settings, StudyAnalysis, StudySummary
from heapwright.artefacts.study_results.reader import Results, open_results
from heapwright.artefacts.study_results.runs import Measured, StudyDesign
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.base.extras import need
from heapwright.commands.findings import with_published
from heapwright.commands.output import Outputs
from heapwright.commands.slow_steps import reporting_steps
from heapwright.commands.text import printing
from heapwright.report.console import make_console
from heapwright.report.study_analysis import print_analysis, print_verdict


@dataclass(frozen=True, slots=True)
class Options:
    """The command line, read."""

    results: tuple[Path, ...]
    responses: tuple[str, ...] = ()
    """Empty: all."""
    interactions: tuple[tuple[str, ...], ...] = ()
    confidence: float | None = None
    """None: the study's own."""
    output: str | None = None
    quiet: bool = False


def run_analyse(options: Options) -> ExitCode:
    """Analyse, write the document and print it; the exit status. Raises HeapwrightError."""
    need("polars", "scipy")
    outputs = Outputs(output=options.output)
    with reporting_steps(quiet=options.quiet) as tell:
        tell("reading the runs and analysing them")
        analysis = analyse_results(
            open_results(*options.results),
            interactions=options.interactions,
            responses=options.responses,
            confidence=options.confidence,
        )
    failure = outputs.write(output=analysis.to_json)
    with printing():
        console = make_console(outputs.stream)
        if options.quiet:
            print_verdict(console, analysis)
        else:
            print_analysis(console, analysis)
    if failure is not None:
        raise failure
    good = any(each.runs for each in analysis.responses)
    return ExitCode.OK if good else ExitCode.NOTHING_COMPARED


def analyse_results(
    results: Results,
    *,
    interactions: Sequence[Sequence[str]] = (),
    responses: Sequence[str] = (),
    confidence: float | None = None,
) -> StudyAnalysis:
    """Analyse the runs; all responses unless some are named.

    `interactions` of three factors are added to those of the study. Raises HeapwrightError for a
    name that the study does not have.
    """
    design = results.design
    settings = _settings(design, interactions, confidence)
    subject = _subject(design, settings, _chosen(design, responses))
    analysis = analyse(results.frame(), subject, _summary(design))
    noted = analysis.model_copy(update={"notes": (*analysis.notes, *_about(results))})
    return with_published(results, noted)


def _settings(
    design: StudyDesign, interactions: Sequence[Sequence[str]], confidence: float | None
) -> Settings:
    """The settings of the study's `[analysis]`, with those of the command line."""
    said: dict[str, Any] = dict(design.options)
    usual = Settings()
    known = [factor.name for factor in design.factors]
    wanted = [*(said.get("interactions") or ()), *interactions]
    for name in (name for each in interactions for name in each):
        if name not in known:
            raise HeapwrightError(
                f"the study {design.study} has no factor {name}", f"it has {', '.join(known)}"
            )
    if any(len(set(each)) != 3 for each in interactions):
        raise HeapwrightError(
            "--interaction takes three factors",
            "write --interaction cpus:threads:size; those of two factors are always analysed",
        )
    threes = dict.fromkeys(tuple(each) for each in wanted if len(set(each)) == 3)
    return Settings(
        confidence=confidence or said.get("confidence") or usual.confidence,
        margin=usual.margin if said.get("margin") is None else said["margin"],
        interactions=tuple(threes),
        scaling=tuple((each["response"], each["by"]) for each in said.get("scaling") or ()),
        seed=usual.seed,
        resamples=usual.resamples,
    )


def _chosen(design: StudyDesign, names: Sequence[str]) -> tuple[Measured, ...]:
    known = {response.name: response for response in design.responses}
    for name in names:
        if name not in known:
            raise HeapwrightError(
                f"the study {design.study} has no response {name}", f"it has {', '.join(known)}"
            )
    return tuple(each for each in design.responses if not names or each.name in names)


def _subject(design: StudyDesign, settings: Settings, responses: Sequence[Measured]) -> Subject:
    return Subject(
        factors=tuple(
            Factor(each.name, each.levels, each.values, each.unit) for each in design.factors
        ),
        responses=tuple(
            Response(
                name=each.name,
                unit=each.unit,
                better=each.better,
                simulated=each.simulated,
                scale=each.scale,
            )
            for each in responses
        ),
        allocator=design.allocator_factor,
        baseline=design.baseline,
        settings=settings,
        treatments={cell.id: cell.levels for cell in design.treatments},
    )


def _summary(design: StudyDesign) -> StudySummary:
    """The facts of the design; the analysis counts the runs."""
    return StudySummary(
        name=design.study,
        title=design.title,
        scale=design.scale,
        sha256=design.sha256,
        seed=design.seed,
        planned=design.planned,
        treatments=len(design.treatments),
        blocks=design.blocks,
        runs=0,
        warmup=0,
        ok=0,
    )


def _about(results: Results) -> list[str]:
    """Notes on the results and on the parts that the design left out."""
    said = list(results.notes)
    if len(results.folders) > 1:
        said.append(f"{len(results.folders)} results folders of the study are analysed together")
    said += [
        f"{each.factor} {each.level} was not run: {each.because}" for each in results.design.dropped
    ]
    if results.design.share < 1:
        said.append(
            f"{results.design.share:.0%} of the full factorial was run: interactions that this "
            "cannot tell apart have lost degrees of freedom"
        )
    return said
