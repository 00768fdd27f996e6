# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The same data through R: aov with blocks, TukeyHSD, and the same steps by hand where R has none.

Needs Rscript (Debian: r-base-core); base R is enough. The data are in data/, written by `made.py`.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from heapwright.analysis.factorial import terms
from heapwright.analysis.factorial.agreement import tau_b
from heapwright.analysis.factorial.aligned import aligned_ranks
from heapwright.analysis.factorial.anova import anova
from heapwright.analysis.factorial.diagnostics import diagnose
from heapwright.analysis.factorial.means import pairs
from heapwright.analysis.factorial.model import Model, model
from heapwright.analysis.factorial.observed import observe
from heapwright.artefacts.study_analysis.terms import AnovaTerm
from support.running import ran

from .made import DATA, SHIPPED, text_of

SCRIPT = Path(__file__).with_name("against_r.R")

Figures = Mapping[tuple[str, str], float]


@pytest.fixture(scope="module")
def models() -> dict[str, Model]:
    """The models of the shipped files."""
    found = {}
    for name, study in SHIPPED.items():
        runs = pl.read_csv(DATA / f"{name}.csv").with_columns(
            outcome=pl.lit("ok"), warmup=pl.lit(value=False)
        )
        found[name] = model(observe(runs, study.named(), "y"))
    return found


@pytest.fixture(scope="module")
def answers() -> dict[str, dict[tuple[str, str], float]]:
    """What R says of each file: (kind, name) -> figure."""
    rscript = shutil.which("Rscript")
    if rscript is None:
        pytest.skip("Rscript is not installed (r-base-core)")
    done = ran([rscript, "--vanilla", SCRIPT, *(DATA / f"{name}.csv" for name in SHIPPED)])
    assert done.returncode == 0, done.stderr
    said: dict[str, dict[tuple[str, str], float]] = {name: {} for name in SHIPPED}
    for line in done.stdout.splitlines():
        file, kind, what, value = line.split(";")
        said[file][kind, what] = float(value)
    return said


@pytest.mark.parametrize("name", SHIPPED)
def test_the_shipped_data_are_what_the_script_makes(name: str) -> None:
    assert (DATA / f"{name}.csv").read_text(encoding="utf-8") == text_of(SHIPPED[name])


def check(line: AnovaTerm, said: Figures, row: str) -> None:
    assert line.df == said["df", row]
    assert line.sum_sq == pytest.approx(said["squares", row], rel=1e-8, abs=1e-12)
    if ("f", row) in said:
        assert line.f == pytest.approx(said["f", row], rel=1e-8)
        assert line.p == pytest.approx(said["p", row], rel=1e-6)


@pytest.mark.programs
@pytest.mark.parametrize("name", ["balanced", "pair"])
def test_a_complete_design(
    name: str, models: Mapping[str, Model], answers: Mapping[str, Figures]
) -> None:
    this, said = models[name], answers[name]
    assert this.balanced
    assert this.equations.orthogonal
    called = {"remaining": "treatment", "residual": "Residuals"}
    table = anova(this)
    for line in table:
        check(line, said, called.get(line.term, line.term))
    assert len(table) == sum(kind == "df" for kind, _ in said)


@pytest.mark.programs
def test_blocks_as_a_stratum(models: Mapping[str, Model], answers: Mapping[str, Figures]) -> None:
    study = SHIPPED["balanced"]
    whole = model(models["balanced"].observed, [tuple(study.factors)])
    found = {line.term: line.f for line in anova(whole) if line.kind == "factors"}
    for name, f in found.items():
        assert f == pytest.approx(answers["balanced"]["stratumf", name], rel=1e-8)
    assert len(found) == 7


@pytest.mark.programs
@pytest.mark.parametrize("name", ["holes", "constrained"])
def test_sequential_sums_with_holes(
    name: str, models: Mapping[str, Model], answers: Mapping[str, Figures]
) -> None:
    this, said = models[name], answers[name]
    assert not this.equations.orthogonal
    found = terms.sequential(this.equations, this.right)
    for term, squares in zip(this.equations.terms, found, strict=True):
        row = ":".join(this.observed.factors[column].name for column in term)
        assert squares.df == said["df", row]
        assert float(squares.sums[0]) == pytest.approx(said["squares", row], rel=1e-8)


@pytest.mark.programs
@pytest.mark.parametrize("name", ["holes", "constrained", "balanced"])
def test_sums_of_type_2(
    name: str, models: Mapping[str, Model], answers: Mapping[str, Figures]
) -> None:
    this, said = models[name], answers[name]
    tested = [line for line in anova(this) if line.kind == "factors"]
    for line in tested:
        assert line.df == said["type2df", line.term]
        assert line.sum_sq == pytest.approx(said["type2squares", line.term], rel=1e-8)
        assert line.f == pytest.approx(said["type2f", line.term], rel=1e-8)
    assert len(tested) == 6
    lost = {line.term: line.df_lost for line in tested if line.df_lost}
    assert lost == ({"a:b": 6} if name == "constrained" else {})
    for row, term in (("treatment", "remaining"), ("Residuals", "residual")):
        line = next(each for each in anova(this) if each.term == term)
        check(line, said, row)


@pytest.mark.programs
@pytest.mark.parametrize("name", ["balanced", "pair"])
def test_aligned_ranks(
    name: str, models: Mapping[str, Model], answers: Mapping[str, Figures]
) -> None:
    this, said = models[name], answers[name]
    for term, ranked in zip(this.equations.terms, aligned_ranks(this), strict=True):
        row = ":".join(this.observed.factors[column].name for column in term)
        assert ranked.f == pytest.approx(said["rankf", row], rel=1e-7)


@pytest.mark.programs
@pytest.mark.parametrize("name", ["balanced", "holes", "pair"])
def test_all_pairs(name: str, models: Mapping[str, Model], answers: Mapping[str, Figures]) -> None:
    this, said = models[name], answers[name]
    compared = 0
    for column in range(len(this.observed.factors)):
        for pair in pairs(this, column, 0.95):
            row = f"{pair.one}-{pair.other}"
            assert np.log(pair.difference) == pytest.approx(said["difference", row], abs=1e-9)
            assert pair.low is not None
            assert pair.high is not None
            assert np.log(pair.low) == pytest.approx(said["low", row], abs=1e-7)
            assert np.log(pair.high) == pytest.approx(said["high", row], abs=1e-7)
            assert pair.p == pytest.approx(said["pair", row], abs=1e-7)
            compared += 1
    assert compared == sum(kind == "difference" for kind, _ in said)


@pytest.mark.programs
def test_tukey_hsd(models: Mapping[str, Model], answers: Mapping[str, Figures]) -> None:
    said = answers["balanced"]
    found = pairs(models["balanced"], 2, 0.95)
    for pair in found:
        row = f"{pair.other}-{pair.one}"
        assert pair.low is not None
        assert pair.high is not None
        assert -np.log(pair.high) == pytest.approx(said["hsdlow", row], abs=1e-6)
        assert -np.log(pair.low) == pytest.approx(said["hsdhigh", row], abs=1e-6)
        assert pair.p == pytest.approx(said["hsd", row], abs=1e-6)
    assert len(found) == 6


@pytest.mark.programs
@pytest.mark.parametrize("name", SHIPPED)
def test_diagnostics(
    name: str, models: Mapping[str, Model], answers: Mapping[str, Figures]
) -> None:
    found, said = diagnose(models[name]), answers[name]
    assert found.normality is not None
    assert found.normality.w == pytest.approx(said["shapiro", "w"], abs=1e-6)
    assert found.normality.p == pytest.approx(said["shapirop", "p"], rel=1e-3)
    assert found.spread is not None
    assert found.spread.f == pytest.approx(said["spreadf", "f"], rel=1e-7)
    assert found.spread.p == pytest.approx(said["spreadp", "p"], rel=1e-6)


@pytest.mark.programs
def test_kendall(models: Mapping[str, Model], answers: Mapping[str, Figures]) -> None:
    observed = models["balanced"].observed
    columns = []
    for level in (0, 1):
        part = observed.only(observed.levels[:, 0] == level)
        number = part.levels[part.treatment, 2]
        columns.append([float(part.value[number == k].mean()) for k in range(4)])
    assert tau_b(*columns) == pytest.approx(answers["balanced"]["tau", "a0-a1"])
