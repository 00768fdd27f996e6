# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Scaling exponents: how a response grows as a quantity grows.

The exponent is the slope of the response's logarithm on that of the quantity. It is 1 if twice the
work takes twice the time. Every block has its own slope, by least squares through its levels. It is
averaged over the combinations of the other factors that have all levels. The interval is that of
the mean of these slopes: bootstrap over blocks from ten blocks on, Student's t below. A bend is the
remaining part of a parabola through the same points, tested in the same way. With a bend, one
exponent does not describe the data.
"""

import numpy as np
from scipy import stats  # noqa: TID251 - the extra `studies` has it

from heapwright.analysis import block_bootstrap
from heapwright.analysis.blocked import NO_SCATTER
from heapwright.analysis.factorial.grid import Grid, Table, table
from heapwright.analysis.factorial.model import Model
from heapwright.analysis.factorial.observed import Floats, Ints
from heapwright.analysis.intervals import FEWEST_BOOTSTRAP_BLOCKS
from heapwright.artefacts.study_analysis.document import Exponent, Settings


def can_scale(this: Model, column: int) -> bool:
    """Whether the factor in `column` is a positive quantity with two levels at least."""
    factor = this.observed.factors[column]
    used = np.unique(this.observed.levels[:, column])
    return (
        this.observed.scale == "log"
        and len(used) > 1
        and len(factor.values) == len(factor.levels)
        and all(factor.values[number] > 0 for number in used)
    )


def exponents(this: Model, box: Grid, allocators: int | None, settings: Settings) -> list[Exponent]:
    """Overall, and for each level of the factor in the column `allocators`.

    `box` has the quantity set apart.
    """
    named: list[tuple[str | None, Ints]] = [(None, np.arange(len(box.combos)))]
    if allocators is not None:
        factor = this.observed.factors[allocators]
        used = np.unique(box.combos[:, allocators])
        named += [
            (factor.levels[number], np.flatnonzero(box.combos[:, allocators] == number))
            for number in used
        ]
    found = [_exponent(this, box, name, combos, settings) for name, combos in named]
    return [each for each in found if each is not None]


def _exponent(
    this: Model, box: Grid, allocator: str | None, combos: Ints, settings: Settings
) -> Exponent | None:
    averaged = table(box, combos)
    if averaged is None or len(averaged.levels) < 2 or not len(averaged.values):
        return None
    factor = this.observed.factors[box.column]
    numbers = box.levels[averaged.levels]
    line, parabola = _weights(np.log([factor.values[number] for number in numbers]))
    slopes = averaged.values @ line
    half = _half_width(slopes, settings)
    if half is not None:
        half /= averaged.share
    exponent = float(slopes.mean())
    return Exponent(
        by=factor.name,
        allocator=allocator,
        exponent=exponent,
        low=None if half is None else exponent - half,
        high=None if half is None else exponent + half,
        levels=tuple(factor.levels[number] for number in numbers),
        blocks=len(slopes),
        cells=len(averaged.combos),
        explained=_explained(averaged, line),
        bend_p=None if parabola is None else _chance(averaged.values @ parabola),
    )


def _weights(x: Floats) -> tuple[Floats, Floats | None]:
    """What the levels are weighted with for the slope, and for the bend where there are three."""
    centred = x - x.mean()
    line = centred / (centred**2).sum()
    if len(x) < 3:
        return line, None
    square = centred**2
    basis = np.column_stack([np.ones(len(x)), centred])
    left = square - basis @ np.linalg.lstsq(basis, square, rcond=None)[0]
    return line, np.asarray(left / (left**2).sum())


def _half_width(slopes: Floats, settings: Settings) -> float | None:
    """Of the interval of the mean slope; None with one block."""
    blocks = len(slopes)
    if blocks < 2:
        return None
    if blocks >= FEWEST_BOOTSTRAP_BLOCKS:
        weights = block_bootstrap.draws(blocks, settings.resamples, settings.seed)
        critical, error = block_bootstrap.simultaneous(
            slopes[:, None], weights, settings.confidence
        )
        return critical * float(error[0])
    error_t = float(slopes.std(ddof=1) / np.sqrt(blocks))
    return float(stats.t.ppf((1 + settings.confidence) / 2, blocks - 1)) * error_t


def _chance(contrast: Floats) -> float | None:
    """Two-sided p of a mean of zero over blocks, by Student's t."""
    blocks = len(contrast)
    if blocks < 2:
        return None
    error = float(contrast.std(ddof=1)) / np.sqrt(blocks)
    if error <= NO_SCATTER:
        return None
    return 2 * float(stats.t.sf(abs(float(contrast.mean())) / error, blocks - 1))


def _explained(averaged: Table, line: Floats) -> float | None:
    """Share of the variance of the levels' means that the line explains.

    None for two levels: a line through two points explains everything.
    """
    if len(line) < 3:
        return None
    means = averaged.values.mean(axis=0)
    total = float(((means - means.mean()) ** 2).sum())
    if total <= NO_SCATTER:
        return None
    slope = float(means @ line)
    return min(slope**2 / float((line**2).sum()) / total, 1.0)
