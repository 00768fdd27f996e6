# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The comparison document: it reads back what it wrote, and its schema is the published one."""

import json
import math
from pathlib import Path

import pytest
from pydantic import ValidationError

from heapwright.artefacts.comparison.document import (
    SCHEMA_VERSION,
    Comparison,
    Design,
    Effect,
    Level,
    ResponseSummary,
    Term,
    TreatmentInfo,
    Verdict,
    count_outcomes,
    label_of,
)
from heapwright.artefacts.run.measured import Outcome, ProcessRecord, Run
from heapwright.artefacts.run.provenance import Environment, Kind
from support.documents import made

DOCS = Path(__file__).parents[4] / "docs"

ENVIRONMENT = made(Environment, cpus=2, memory_bytes=1, settings={"MALLOC_CONF": "x"})


def run(block: int, outcome: Outcome = Outcome.OK, allocator: str = "x", level: str = "") -> Run:
    return Run(
        allocator=allocator,
        level=level,
        block=block,
        position=0,
        warmup=block < 1,
        outcome=outcome,
        wall_s=0.1 + 0.2,
        rss_series=[(0.1, 4096)],
        counters={"cycles": 1.5},
        processes=[ProcessRecord(pid=1, ppid=0, exe="/bin/true", cpu_s=0.1)],
    )


def comparison() -> Comparison:
    return Comparison(
        heapwright_version="0.1.0",
        command=("printf", "ä \u2028", "-n"),
        environment=ENVIRONMENT,
        design=Design(
            blocks=2,
            warmup=1,
            seed=3,
            baseline="glibc",
            until=0.03,
            looks=(5, 10),
            pinned_cpus=(0, 1),
            stopped_because="it was interrupted",
        ),
        treatments=(
            TreatmentInfo(allocator="glibc", label="glibc", kind=Kind.SYSTEM),
            TreatmentInfo(
                allocator="x", level="A=1", label="x [A=1]", kind=Kind.FILE, environment={"A": "1"}
            ),
        ),
        runs=(run(0), run(1), run(2, Outcome.NOT_INTERPOSED)),
        effects=(made(Effect, allocator="x", response="time", ratio=1 / 3, runs=1),),
        responses=(
            made(
                ResponseSummary,
                response="time",
                baseline_value=math.pi,
                method="none",
                level=0.975,
                blocks=1,
                anova=(Term(term="block", sum_of_squares=0.1, df=1),),
            ),
        ),
        pareto=("glibc",),
        verdict=Verdict(action="undecided", allocator=None, reason="Undecided: …", how=("a",)),
    )


def test_it_reads_back_what_it_wrote() -> None:
    whole = comparison()
    assert Comparison.from_json(whole.to_json()) == whole


def test_the_document_has_what_is_promised() -> None:
    document = json.loads(comparison().to_json())
    assert document["schema_version"] == SCHEMA_VERSION
    assert set(document) >= {"command", "environment", "design", "runs", "effects", "verdict"}
    assert set(document["design"]) >= {"blocks", "warmup", "seed", "baseline"}
    promised = (
        "allocator level block position warmup outcome exit_status signal wall_s user_s sys_s"
    )
    promised += " peak_rss_bytes interposed rss_series"
    assert set(document["runs"][0]) >= set(promised.split())
    assert set(document["effects"][0]) >= {
        "allocator",
        "level",
        "response",
        "ratio",
        "low",
        "high",
        "group",
    }
    assert set(document["verdict"]) >= {"action", "allocator", "reason"}


def test_it_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        comparison().design.seed = 4


def test_another_version_and_unknown_fields_are_refused() -> None:
    document = json.loads(comparison().to_json())
    with pytest.raises(ValidationError):
        Comparison.model_validate({**document, "schema_version": 3})
    with pytest.raises(ValidationError):
        Comparison.model_validate({**document, "surprise": 1})


def test_a_document_from_before_the_races_is_read() -> None:
    document = json.loads(comparison().to_json())
    del document["race"], document["design"]["race"]
    old = Comparison.model_validate({**document, "schema_version": 1})
    assert old.race is None
    assert old.schema_version == 1


def test_outcomes_are_counted_without_good_warmups() -> None:
    runs = [
        run(0),
        run(-1, Outcome.CRASHED),
        run(1),
        run(2),
        run(3, Outcome.TIMEOUT),
        run(1, allocator="other"),
        run(1, level="A=1"),
    ]
    counts = count_outcomes(runs, ("x", ""))
    assert list(counts.items()) == [(Outcome.OK, 2), (Outcome.CRASHED, 1), (Outcome.TIMEOUT, 1)]
    assert count_outcomes(runs, ("absent", "")) == {}


def test_labels() -> None:
    assert label_of("x", "") == "x"
    assert label_of("x", "A=1") == "x [A=1]"
    assert label_of("", "old, threads=2") == "old, threads=2"


def test_an_effect_is_found_by_key_and_response() -> None:
    whole = comparison()
    assert whole.effect(("x", ""), "time") is whole.effects[0]
    assert whole.effect(("x", ""), "memory") is None
    assert whole.response("time") is whole.responses[0]
    assert whole.response("memory") is None


def test_every_field_is_documented() -> None:
    page = (DOCS / "reference" / "comparison-json.md").read_text(encoding="utf-8")
    models = (Comparison, Design, TreatmentInfo, Run, ProcessRecord, Effect, Level)
    for model in (*models, ResponseSummary, Term, Verdict, Environment):
        for field in model.model_fields:
            assert f"`{field}`" in page, f"{model.__name__}.{field} is not documented"
