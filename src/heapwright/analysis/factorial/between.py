# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Results about several responses or rankings: Pareto fronts and agreement."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from heapwright.analysis import block_bootstrap
from heapwright.analysis.factorial.agreement import Tau, agreement
from heapwright.analysis.factorial.grid import Grid, table, within
from heapwright.analysis.factorial.model import Model
from heapwright.analysis.factorial.observed import Floats, Ints
from heapwright.analysis.factorial.responses import Analysed
from heapwright.analysis.pareto import pareto_front
from heapwright.artefacts.study_analysis.document import (
    Agreement,
    ParetoFront,
    ParetoPoint,
    RankedBy,
    Settings,
)


def pareto_fronts(analysed: Sequence[Analysed]) -> tuple[ParetoFront, ...]:
    """Each two responses of which one direction is good, by the overall means."""
    judged = [each for each in analysed if _judged(each)]
    return tuple(_front(one, other) for one, other in combinations(judged, 2))


def agreements(analysed: Sequence[Analysed], settings: Settings) -> tuple[Agreement, ...]:
    """Between each two responses overall, and between the ends of each factor."""
    judged = [each for each in analysed if _judged(each)]
    found = [_between(one, other, settings) for one, other in combinations(judged, 2)]
    for each in judged:
        found += _ends(each, settings)
    return tuple(each for each in found if each is not None)


def _judged(each: Analysed) -> bool:
    return each.document.better != "none" and bool(each.document.rankings)


def _front(one: Analysed, other: Analysed) -> ParetoFront:
    first, second = one.document, other.document
    rankings = first.rankings[0], second.rankings[0]
    signs = [-1.0 if each.better == "higher" else 1.0 for each in (first, second)]
    means: dict[str, tuple[float, float]] = {}
    left_out = dict.fromkeys((*rankings[0].absent, *rankings[1].absent))
    for entry in rankings[0].entries:
        partner = rankings[1].entry(entry.allocator)
        if partner is None or entry.failed or partner.failed:
            left_out[entry.allocator] = None
        else:
            means[entry.allocator] = (entry.mean, partner.mean)
    on = pareto_front({name: (signs[0] * x, signs[1] * y) for name, (x, y) in means.items()})
    order = [*on, *(name for name in means if name not in on)]
    return ParetoFront(
        x=first.name,
        y=second.name,
        points=tuple(
            ParetoPoint(allocator=name, x=means[name][0], y=means[name][1], on_front=name in on)
            for name in order
        ),
        left_out=tuple(left_out),
    )


def _between(one: Analysed, other: Analysed, settings: Settings) -> Agreement | None:
    """Of two responses, overall."""
    sides = []
    for each in (one, other):
        if each.box is None or each.model is None:
            return None
        combos = np.arange(len(each.box.combos))
        found = _ranked(each.model, each.box, combos, each.document.better == "higher")
        if found is None:
            return None
        sides.append(found)
    names = RankedBy(response=one.document.name), RankedBy(response=other.document.name)
    return _agreement(names, sides, settings)


def _ends(each: Analysed, settings: Settings) -> list[Agreement | None]:
    """Of one response, at the first and the last level of each other factor."""
    if each.box is None or each.model is None:
        return []
    observed, box = each.model.observed, each.box
    said: list[Agreement | None] = []
    for column in observed.varied():
        if column == box.column:
            continue
        used = np.unique(observed.levels[:, column])
        ends = int(used[0]), int(used[-1])
        sides = [
            _ranked(each.model, box, within(box, [(column, end)]), each.document.better == "higher")
            for end in ends
        ]
        factor = observed.factors[column]
        names = [
            RankedBy(response=each.document.name, scope={factor.name: factor.levels[end]})
            for end in ends
        ]
        whole = [side for side in sides if side is not None]
        if len(whole) == 2:
            said.append(_agreement((names[0], names[1]), whole, settings))
    return said


Side = tuple[dict[str, int], dict[int, int], Floats]
"""Column of each allocator, row of each block, and the table (b, A); the best is smallest."""


def _ranked(this: Model, box: Grid, combos: Ints, higher: bool) -> Side | None:
    averaged = table(box, combos)
    if averaged is None:
        return None
    factor = this.observed.factors[box.column]
    names = {
        factor.levels[box.levels[place]]: number for number, place in enumerate(averaged.levels)
    }
    rows = {this.observed.numbers[block]: row for row, block in enumerate(averaged.blocks)}
    return names, rows, -averaged.values if higher else averaged.values


def _agreement(
    names: tuple[RankedBy, RankedBy], sides: Sequence[Side], settings: Settings
) -> Agreement | None:
    one, other = sides
    items = [name for name in one[0] if name in other[0]]
    blocks = sorted(set(one[1]) & set(other[1]))
    if not blocks:
        return None
    tables = [
        side[2][np.ix_([side[1][block] for block in blocks], [side[0][name] for name in items])]
        for side in sides
    ]
    weights = block_bootstrap.draws(len(blocks), settings.resamples, settings.seed)
    found: Tau | None = agreement(tables[0], tables[1], settings.confidence, weights)
    if found is None:
        return None
    return Agreement(
        one=names[0],
        other=names[1],
        allocators=len(items),
        tau=found.tau,
        low=found.low,
        high=found.high,
        p=found.p,
    )
