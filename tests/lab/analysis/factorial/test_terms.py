# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Terms: which there are, when they are orthogonal, what cannot be told."""

from collections.abc import Callable

import polars as pl
import pytest

from heapwright.analysis.factorial import terms
from heapwright.analysis.factorial.model import Model, between, model
from heapwright.analysis.factorial.observed import Factor, observe

from .made import Study

Modelled = Callable[[Study], Model]
WHOLE = Study({"a": 3, "b": 2, "c": 2}, blocks=4)
HOLES = Study({"a": 3, "b": 2, "c": 2}, blocks=4, missing=0.2, seed=5)


def test_main_effects_pairs_and_what_is_named(modelled: Modelled) -> None:
    observed = modelled(WHOLE).observed
    assert terms.terms_of(observed) == ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2))
    named = [("c", "a", "b"), ("a", "b", "c"), ("a", "b"), ("a", "b", "x")]
    assert terms.terms_of(observed, named)[6:] == ((0, 1, 2),)


def test_a_factor_with_one_level_has_no_term() -> None:
    frame = WHOLE.frame().filter(pl.col("b") == "b1")
    assert terms.terms_of(observe(frame, WHOLE.named(), "y")) == ((0,), (2,), (0, 2))


def test_a_complete_design_is_orthogonal(modelled: Modelled) -> None:
    this = modelled(WHOLE)
    assert this.equations.orthogonal
    assert this.equations.diagonal
    for number in range(6):
        one = terms.sequential(this.equations, this.right)[number]
        other = terms.type_2(this.equations, this.right, number)
        assert one.df == other.df
        assert one.sums == pytest.approx(other.sums)


def test_missing_blocks_leave_it_orthogonal() -> None:
    """Whole blocks may be missing, and a block may be there twice as often."""
    frame = WHOLE.frame().filter(pl.col("block") != 2)
    assert model(observe(frame, WHOLE.named(), "y")).equations.orthogonal


@pytest.mark.parametrize(
    "study", [HOLES, Study({"a": 3, "b": 3}, 4, left_out=lambda k: k == (0, 0))]
)
def test_type_2_does_not_depend_on_the_order_of_factors(study: Study) -> None:
    frame, factors = study.frame(), study.named()
    one = model(observe(frame, factors, "y"))
    other = model(observe(frame, factors[::-1], "y"))
    assert not one.equations.orthogonal

    def by_name(this: Model) -> dict[frozenset[str], tuple[int, float]]:
        found = terms.sums_of_squares(this.equations, this.right)
        return {
            frozenset(this.observed.factors[k].name for k in term): (each.df, float(each.sums[0]))
            for term, each in zip(this.equations.terms, found, strict=True)
        }

    assert by_name(one).keys() == by_name(other).keys()
    for name, (df, squares) in by_name(one).items():
        assert by_name(other)[name] == (df, pytest.approx(squares, rel=1e-9))


def test_inestimable_terms_have_no_degrees_of_freedom(modelled: Modelled) -> None:
    this = modelled(Study({"a": 3, "b": 3}, 4, left_out=lambda levels: levels[0] != levels[1]))
    found = terms.sequential(this.equations, this.right)
    assert [(each.df, each.lost) for each in found] == [(2, 0), (0, 2), (0, 4)]


def test_in_a_fraction_main_effects_have_the_credit() -> None:
    """Half of 2 x 2 x 2, in which each factor is the same as the interaction of the others."""
    study = Study({"a": 2, "b": 2, "c": 2}, 5, left_out=lambda levels: sum(levels) % 2 == 1)
    this = model(observe(study.frame(), study.named(), "y"))
    found = terms.sums_of_squares(this.equations, this.right)
    assert [(each.df, each.lost) for each in found] == [(1, 0)] * 3 + [(0, 1)] * 3
    assert sum(float(each.sums[0]) for each in found) == pytest.approx(between(this))


def test_no_factor_at_all() -> None:
    frame = WHOLE.frame().filter(pl.col("treatment") == "a0b0c0")
    this = model(observe(frame, (Factor("a", ("a0",)),), "y"))
    assert this.equations.terms == ()
    assert terms.sums_of_squares(this.equations, this.right) == []
