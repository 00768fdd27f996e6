# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Terms of a factorial model and their sums of squares.

A term is a set of factors: a main effect, or an interaction of two or three. Its columns are
products of orthonormal contrasts, one row a *treatment*, so that the normal equations

    A = Z' (D - N' (W'W)^-1 N) Z        c = Z' (T'y - N' (W'W)^-1 W'y)

(blocks eliminated; names as in `additive`) cost a pass over the treatments instead of one over the
runs. In a complete design A is diagonal. Sums of squares are read while columns are swept in one
after the other (Goodnight 1979, The American Statistician 33). A column may be a combination of
earlier ones in the combinations that were run. It is then skipped and costs its term a degree of
freedom.

Type 2: each term is adjusted for all terms that do not contain it. This does not depend on the
order of the factors (Yates 1934; Langsrud 2003, Statistics and Computing 13). For orthogonal terms
the sequential sums are equal and are used.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from heapwright.analysis.factorial.additive import Layout
from heapwright.analysis.factorial.observed import Floats, Observed

ALIASED = 1e-9
"""A column of which less than this part is left depends on earlier ones."""

Term = tuple[int, ...]
"""The columns of its factors in `Observed.levels`, ascending."""


@dataclass(frozen=True, slots=True, eq=False)
class Equations:
    """The reduced normal equations of all terms; p columns.

    columns  (T, p)  Z
    places           the columns of each term
    matrix   (p, p)  A
    orthogonal       no term says anything about another
    diagonal         nor does any column
    """

    terms: tuple[Term, ...]
    columns: Floats
    places: tuple[slice, ...]
    matrix: Floats
    orthogonal: bool
    diagonal: bool


@dataclass(frozen=True, slots=True, eq=False)
class Squares:
    """What a term explains.

    sums  (r,)  of squares, for each response
    lost        degrees of freedom that are not estimable
    """

    df: int
    lost: int
    sums: Floats


def terms_of(observed: Observed, named: Sequence[Sequence[str]] = ()) -> tuple[Term, ...]:
    """Main effects, all pairs, and the named sets of three whose factors all vary here."""
    varied = observed.varied()
    names = {observed.factors[column].name: column for column in varied}
    larger = {
        tuple(sorted(names[factor] for factor in wanted))
        for wanted in named
        if len(set(wanted)) > 2 and all(factor in names for factor in wanted)
    }
    return (
        *((column,) for column in varied),
        *combinations(varied, 2),
        *sorted(larger),
    )


def equations(observed: Observed, layout: Layout, terms: Sequence[Term]) -> Equations:
    """Build the equations of `terms`."""
    main = {column: _contrasts(observed, column) for term in terms for column in term}
    parts: list[Floats] = []
    places: list[slice] = []
    begin = 0
    for term in terms:
        product = main[term[0]]
        for column in term[1:]:
            pairs = product[:, :, None] * main[column][:, None, :]
            product = pairs.reshape(len(product), -1)
        parts.append(product)
        places.append(slice(begin, begin + product.shape[1]))
        begin += product.shape[1]
    columns = np.hstack(parts) if parts else np.empty((observed.treatments, 0))
    met = np.asarray(layout.together @ columns)
    matrix = columns.T @ (layout.counts[:, None] * columns) - met.T @ (met / layout.sizes[:, None])
    matrix = (matrix + matrix.T) / 2
    crossed = np.abs(matrix - np.diag(matrix.diagonal()))
    rounding = ALIASED * matrix.diagonal().max(initial=0.0)
    diagonal = bool(crossed.max(initial=0.0) <= rounding)
    for place in places:
        crossed[place, place] = 0.0
    orthogonal = bool(crossed.max(initial=0.0) <= rounding)
    return Equations(tuple(terms), columns, tuple(places), matrix, orthogonal, diagonal)


def right_side(these: Equations, layout: Layout, values: Floats) -> Floats:
    """c for r responses, shape (p, r); values (n, r)."""
    deviations = values - values.mean(axis=0)
    means = np.asarray(layout.by_block @ deviations) / layout.sizes[:, None]
    sums = np.asarray(layout.by_treatment @ deviations) - np.asarray(layout.together.T @ means)
    return np.asarray(these.columns.T @ sums)


def sums_of_squares(these: Equations, right: Floats) -> list[Squares]:
    """Of each term: sequential if the terms are orthogonal, else of type 2."""
    if these.orthogonal:
        return _swept(these, right, range(len(these.terms)))
    return [type_2(these, right, number) for number in range(len(these.terms))]


def sequential(these: Equations, right: Floats) -> list[Squares]:
    """Each term adjusted for those before it."""
    return _swept(these, right, range(len(these.terms)))


def type_2(these: Equations, right: Floats, number: int) -> Squares:
    """One term adjusted for all that do not contain it.

    In a fraction of a design a term may be the same as an interaction of more factors. Then it has
    the credit, as usual. It is adjusted for terms with at most as many factors as its own.
    """
    found = _last_of(these, right, number, most=max(map(len, these.terms)))
    if not found.lost:
        return found
    alone = _last_of(these, right, number, most=len(these.terms[number]))
    return alone if alone.df > found.df else found


def _last_of(these: Equations, right: Floats, number: int, most: int) -> Squares:
    """A term adjusted for all that do not contain it and have `most` factors at most."""
    wanted = set(these.terms[number])
    before = [
        other
        for other, term in enumerate(these.terms)
        if other != number and not wanted < set(term) and len(term) <= most
    ]
    return _swept(these, right, [*before, number])[-1]


def _swept(these: Equations, right: Floats, order: Sequence[int]) -> list[Squares]:
    """The sums of squares of terms, each adjusted for those before it in `order`."""
    chosen = np.concatenate(
        [np.arange(these.places[k].start, these.places[k].stop) for k in order]
        or [np.empty(0, dtype=np.int64)]
    )
    rest = right[chosen]
    whole = these.matrix.diagonal()[chosen]
    if these.diagonal:
        gained = rest**2 / np.where(whole > 0, whole, np.inf)[:, None]
        return _gathered(these, order, whole > 0, gained)
    left = these.matrix[np.ix_(chosen, chosen)]
    told = np.zeros(len(chosen), dtype=bool)
    gained = np.zeros_like(rest)
    for j in range(len(chosen)):
        pivot = left[j, j]
        if pivot <= ALIASED * whole[j] or pivot <= 0:
            continue
        told[j] = True
        gained[j] = rest[j] ** 2 / pivot
        share = left[j, j + 1 :] / pivot
        if share.any():
            rest[j + 1 :] -= share[:, None] * rest[j]
            left[j + 1 :, j + 1 :] -= share[:, None] * left[j, j + 1 :]
    return _gathered(these, order, told, gained)


def _gathered(
    these: Equations, order: Sequence[int], told: NDArray[np.bool_], gained: Floats
) -> list[Squares]:
    found: list[Squares] = []
    begin = 0
    for number in order:
        place = these.places[number]
        end = begin + place.stop - place.start
        df = int(told[begin:end].sum())
        found.append(Squares(df, end - begin - df, gained[begin:end].sum(axis=0)))
        begin = end
    return found


def _contrasts(observed: Observed, column: int) -> Floats:
    """Orthonormal contrasts of a factor's levels with runs, a row a treatment (Helmert's)."""
    used, place = np.unique(observed.levels[:, column], return_inverse=True)
    k = len(used)
    basis = np.zeros((k, k - 1))
    for j in range(1, k):
        basis[:j, j - 1] = -1.0
        basis[j, j - 1] = j
        basis[:, j - 1] /= np.sqrt(j * (j + 1))
    return np.asarray(basis[place] * np.sqrt(k))
