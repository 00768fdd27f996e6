# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Worked examples with printed answers, which need nothing but this package.

Montgomery, Design and Analysis of Experiments, 8th edition. The examples are vascular grafts (table
4.3, a randomised complete block design) and battery life (table 5.1, two factors). The third is
filtration rate (table 6.10, one run of each treatment). Kendall, Rank Correlation Methods, chapter
3: ties.
"""

import itertools
from collections.abc import Sequence

import polars as pl
import pytest

from heapwright.analysis.factorial.agreement import tau_b
from heapwright.analysis.factorial.anova import anova
from heapwright.analysis.factorial.means import mean_table, pairs
from heapwright.analysis.factorial.model import Model, model
from heapwright.analysis.factorial.observed import Factor, observe
from heapwright.artefacts.study_analysis.terms import AnovaTerm

GRAFTS = {
    "8500": (90.3, 89.2, 98.2, 93.9, 87.4, 97.9),
    "8700": (92.5, 89.5, 90.6, 94.7, 87.0, 95.8),
    "8900": (85.5, 90.8, 89.6, 86.2, 88.0, 93.4),
    "9100": (82.5, 89.5, 85.6, 87.4, 78.9, 90.7),
}
"""Yield by pressure; the batches of resin are blocks."""
BATTERIES = {
    ("1", "15"): (130, 155, 74, 180),
    ("1", "70"): (34, 40, 80, 75),
    ("1", "125"): (20, 70, 82, 58),
    ("2", "15"): (150, 188, 159, 126),
    ("2", "70"): (136, 122, 106, 115),
    ("2", "125"): (25, 70, 58, 45),
    ("3", "15"): (138, 110, 168, 160),
    ("3", "70"): (174, 120, 150, 139),
    ("3", "125"): (96, 104, 82, 60),
}
"""Life by material and temperature."""
FILTRATION = (45, 71, 48, 65, 68, 60, 80, 65, 43, 100, 45, 104, 75, 86, 70, 96)
"""Rate by temperature, pressure, concentration, stirring; the first changes fastest."""


def model_of(rows: Sequence[dict[str, object]], *factors: Factor) -> Model:
    frame = pl.DataFrame(rows).with_columns(
        pl.col("y").cast(pl.Float64), outcome=pl.lit("ok"), warmup=pl.lit(value=False)
    )
    return model(observe(frame, factors, "y", "linear"))


def lines_of(this: Model) -> dict[str, AnovaTerm]:
    return {line.term: line for line in anova(this)}


@pytest.fixture(scope="module")
def grafts() -> Model:
    rows = [
        {"pressure": pressure, "treatment": pressure, "block": block, "y": value}
        for pressure, values in GRAFTS.items()
        for block, value in enumerate(values, 1)
    ]
    return model_of(rows, Factor("pressure", tuple(GRAFTS)))


@pytest.fixture(scope="module")
def batteries() -> Model:
    rows = [
        {"material": a, "temperature": b, "treatment": f"{a} {b}", "block": 1, "y": value}
        for (a, b), values in BATTERIES.items()
        for value in values
    ]
    return model_of(
        rows,
        Factor("material", ("1", "2", "3")),
        Factor("temperature", ("15", "70", "125"), (15, 70, 125)),
    )


def test_blocks_are_taken_out(grafts: Model) -> None:
    found = lines_of(grafts)
    assert found["pressure"].sum_sq == pytest.approx(178.17, abs=0.005)
    assert found["block"].sum_sq == pytest.approx(192.25, abs=0.005)
    assert found["residual"].sum_sq == pytest.approx(109.89, abs=0.005)
    assert (found["pressure"].df, found["block"].df, found["residual"].df) == (3, 5, 15)
    assert found["pressure"].f == pytest.approx(8.11, abs=0.005)
    assert found["pressure"].p == pytest.approx(0.0019, abs=0.00005)
    assert found["pressure"].eta_sq == pytest.approx(178.17 / 480.31, abs=1e-4)
    assert found["pressure"].partial_eta_sq == pytest.approx(178.17 / 288.06, abs=1e-4)


def test_all_pairs_of_the_blocked_model(grafts: Model) -> None:
    """The studentised range of 4 means with 15 degrees of freedom is 4.08 in the tables."""
    critical = 4.08 * (109.89 / 15 / 6) ** 0.5
    means = {pressure: sum(values) / 6 for pressure, values in GRAFTS.items()}
    for pair in pairs(grafts, 0, 0.95):
        apart = means[pair.one] - means[pair.other]
        assert pair.difference == pytest.approx(apart)
        assert pair.low is not None
        assert pair.difference - pair.low == pytest.approx(critical, abs=0.01)
        assert pair.p is not None
        assert (pair.p < 0.05) == (abs(apart) > critical)
    groups = {row.levels[0]: row.group for row in mean_table(grafts, (0,), 0.95).rows}
    assert groups == {"9100": "a", "8900": "ab", "8700": "b", "8500": "b"}


def test_two_factors_and_their_interaction(batteries: Model) -> None:
    found = lines_of(batteries)
    assert found["material"].sum_sq == pytest.approx(10_683.72, abs=0.005)
    assert found["temperature"].sum_sq == pytest.approx(39_118.72, abs=0.005)
    assert found["material:temperature"].sum_sq == pytest.approx(9_613.78, abs=0.005)
    assert found["residual"].sum_sq == pytest.approx(18_230.75, abs=0.005)
    assert float(batteries.found.total[0]) == pytest.approx(77_646.97, abs=0.005)
    assert [line.df for line in found.values()] == [2, 2, 4, 27]
    assert found["material"].f == pytest.approx(7.91, abs=0.005)
    assert found["temperature"].f == pytest.approx(28.97, abs=0.005)
    assert found["material:temperature"].f == pytest.approx(3.56, abs=0.005)
    assert found["material"].p == pytest.approx(0.0020, abs=0.00005)
    assert found["material:temperature"].p == pytest.approx(0.0186, abs=0.00005)


def test_means_of_combinations(batteries: Model) -> None:
    table = mean_table(batteries, (0, 1), 0.95)
    for (material, temperature), values in BATTERIES.items():
        row = table.row(material, temperature)
        assert row is not None
        assert row.mean == pytest.approx(sum(values) / 4)
        assert (row.runs, row.treatments) == (4, 1)


def test_one_run_of_each_treatment() -> None:
    """Without pure error the interactions of three and four factors are the error."""
    rows = [
        {**dict(zip("dcba", levels, strict=True)), "treatment": "".join(levels), "block": 1, "y": y}
        for levels, y in zip(itertools.product("-+", repeat=4), FILTRATION, strict=True)
    ]
    this = model_of(rows, *(Factor(name, ("-", "+")) for name in "abcd"))
    found = lines_of(this)
    printed = {
        "a": 1870.56,
        "b": 39.06,
        "c": 390.06,
        "d": 855.56,
        "a:b": 0.0625,
        "a:c": 1314.06,
        "a:d": 1105.56,
        "b:c": 22.56,
        "b:d": 0.56,
        "c:d": 5.06,
    }
    for term, squares in printed.items():
        assert found[term].sum_sq == pytest.approx(squares, abs=0.01)
    assert this.pooled
    assert found["residual"].df == 5
    assert found["residual"].sum_sq == pytest.approx(5730.94 - sum(printed.values()), abs=0.1)
    assert "remaining" not in found


def test_kendall_with_ties() -> None:
    """A score of 33; 41 and 36 of the 45 pairs are untied."""
    one = [1, 2.5, 2.5, 4.5, 4.5, 6.5, 6.5, 8, 9.5, 9.5]
    other = [1, 2, 4.5, 4.5, 4.5, 4.5, 8, 8, 8, 10]
    assert tau_b(one, other) == pytest.approx(33 / (41 * 36) ** 0.5)
    assert tau_b(one, other) == pytest.approx(0.859, abs=0.0005)
