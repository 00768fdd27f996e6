# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Do the model's assumptions hold? Tests on the residuals, and warnings in plain words.

With many runs a test finds even a harmless departure. A warning therefore needs both: a test at 1
%, and a departure of a size that matters. The limits are stated here and in
docs/explanation/methods.md; none of them is a theorem.
"""

import numpy as np
from scipy import special, stats  # noqa: TID251 - the extra `studies` has it

from heapwright.analysis.factorial.model import Model
from heapwright.analysis.factorial.observed import Floats, Ints
from heapwright.artefacts.study_analysis.terms import Diagnostics, Normality, Order, Spread

SIGNIFICANT = 0.01
SKEWED = 0.5
HEAVY = 1.0
"""Skewness and excess kurtosis that matter; the normal distribution has neither."""
WIDER = 2.0
"""Ratio of standard deviations from which on the F test and pooled intervals suffer."""
ALIKE = 0.1
"""Correlation of neighbouring runs that matters."""
MOST_TESTED = 5000
"""Shapiro and Wilk's test is defined so far."""
FEWEST = 8
QUANTILES = 99
FAR = 4.0
_SEED = 1


def diagnose(this: Model) -> Diagnostics:
    """Test the residuals; no result without degrees of freedom or scatter."""
    if this.pooled or not this.variance or this.observed.runs < FEWEST:
        return Diagnostics()
    scaled = _scaled(this)
    normality, spread, order = _normality(scaled), _spread(this), _order(this)
    return Diagnostics(
        normality=normality,
        spread=spread,
        order=order,
        quantiles=_quantiles(scaled),
        warnings=tuple(_warnings(normality, spread, order)),
    )


def _scaled(this: Model) -> Floats:
    """Residuals over their standard deviation."""
    return np.asarray(this.residuals / np.sqrt((this.residuals**2).mean()))


def _normality(scaled: Floats) -> Normality:
    tested = scaled
    if len(scaled) > MOST_TESTED:
        draws = np.random.default_rng(_SEED)
        tested = draws.choice(scaled, MOST_TESTED, replace=False)
    w, p = stats.shapiro(tested)
    return Normality(
        w=min(float(w), 1.0),
        p=float(p),
        tested=len(tested),
        skewness=float(stats.skew(scaled)),
        excess_kurtosis=float(stats.kurtosis(scaled)),
        far_out=float((np.abs(scaled) > FAR).mean()),
    )


def _spread(this: Model) -> Spread | None:
    """Brown and Forsythe's test over the treatments (1974), and the factor that tells most.

    None with fewer than three runs of most treatments: two residuals always differ alike.
    """
    observed = this.observed
    if np.median(observed.counts) < 3 or observed.treatments < 2:
        return None
    distance = np.abs(this.residuals - _medians(this.residuals, observed.treatment))
    f, p = _one_way(distance, observed.treatment)
    widest: tuple[float, int, Floats] | None = None
    for column in observed.varied():
        codes = observed.levels[observed.treatment, column]
        deviations = np.sqrt(_means(this.residuals**2, codes))
        ratio = float(deviations.max() / deviations.min()) if deviations.min() > 0 else np.inf
        if widest is None or ratio > widest[0]:
            widest = (ratio, column, deviations)
    if widest is None or not np.isfinite(f):
        return None
    ratio, column, deviations = widest
    factor = observed.factors[column]
    used = np.unique(observed.levels[:, column])
    return Spread(
        f=f,
        p=p,
        factor=factor.name,
        widest=factor.levels[used[deviations.argmax()]],
        narrowest=factor.levels[used[deviations.argmin()]],
        ratio=ratio if np.isfinite(ratio) else None,
    )


def _order(this: Model) -> Order | None:
    """Correlation of residuals that follow each other on one host (they are in that order)."""
    same = this.observed.host[1:] == this.observed.host[:-1]
    before, after = this.residuals[:-1][same], this.residuals[1:][same]
    size = float((this.residuals**2).sum())
    if len(after) < FEWEST or size <= 0:
        return None
    lag = float((before * after).sum()) / size
    # residuals of a block sum to zero, which alone makes neighbours differ a little
    expected = -1 / max(this.observed.runs / this.observed.blocks, 2)
    p = 2 * float(stats.norm.sf(abs(lag - expected) * np.sqrt(len(after))))
    return Order(lag_1=lag, p=p)


def _quantiles(scaled: Floats) -> tuple[tuple[float, float], ...]:
    chances = np.arange(1, QUANTILES + 1) / (QUANTILES + 1)
    expected = stats.norm.ppf(chances)
    found = np.quantile(scaled, chances)
    return tuple((float(x), float(y)) for x, y in zip(expected, found, strict=True))


def _warnings(normality: Normality, spread: Spread | None, order: Order | None) -> list[str]:
    said = []
    odd = abs(normality.skewness) > SKEWED or abs(normality.excess_kurtosis) > HEAVY
    if normality.p < SIGNIFICANT and odd:
        said.append(
            f"the scatter is not normal: {_shape(normality)}; p values of the analysis of variance "
            "are approximate, those on aligned ranks do without the assumption"
        )
    if spread is not None and spread.p < SIGNIFICANT:
        if spread.ratio is None:
            said.append(
                f"runs with {spread.factor} {spread.narrowest} do not scatter at all, others do: "
                "groups and p values, which use one common scatter, are approximate"
            )
        elif spread.ratio > WIDER:
            said.append(
                f"scatter is not the same everywhere: with {spread.factor} {spread.widest} it is "
                f"{spread.ratio:.1f} times that with {spread.narrowest}. Groups and p values "
                "use one common scatter. They overstate the former and understate the latter"
            )
    if order is not None and order.p < SIGNIFICANT and abs(order.lag_1) > ALIKE:
        alike = "resemble each other" if order.lag_1 > 0 else "alternate"
        said.append(
            f"runs that follow each other {alike} (correlation {order.lag_1:.2f}): something "
            "drifts within blocks, so there is less information than runs; intervals are too narrow"
        )
    return said


def _shape(normality: Normality) -> str:
    if normality.far_out > 0 and normality.excess_kurtosis > HEAVY:
        return (
            f"{normality.far_out:.2%} of the runs lie beyond {FAR:g} standard deviations "
            "(normal: 0.01 %)"
        )
    if abs(normality.skewness) > SKEWED:
        side = "slow or large" if normality.skewness > 0 else "fast or small"
        return f"it reaches further on the {side} side (skewness {normality.skewness:.1f})"
    shape = "heavier" if normality.excess_kurtosis > 0 else "lighter"
    return f"its tails are {shape} (excess kurtosis {normality.excess_kurtosis:.1f})"


def _one_way(values: Floats, codes: Ints) -> tuple[float, float]:
    """F and p of a one-way analysis of variance."""
    groups = int(codes.max()) + 1
    means = _means(values, codes)
    counts = np.bincount(codes)
    between = float((counts * (means - values.mean()) ** 2).sum())
    within = float(((values - means[codes]) ** 2).sum())
    df = len(values) - groups
    if df < 1 or within <= 0:
        return np.nan, np.nan
    f = between / (groups - 1) / (within / df)
    return f, float(special.fdtrc(groups - 1, df, f))


def _means(values: Floats, codes: Ints) -> Floats:
    """By code, of the codes that occur."""
    counts = np.bincount(codes)
    sums = np.bincount(codes, values)
    return np.asarray(sums[counts > 0] / counts[counts > 0])


def _medians(values: Floats, codes: Ints) -> Floats:
    """The median of each run's own treatment, shape of `values`."""
    order = np.lexsort((values, codes))
    counts = np.bincount(codes)
    begin = np.concatenate([[0], np.cumsum(counts)[:-1]])
    ordered = values[order]
    medians = (ordered[begin + (counts - 1) // 2] + ordered[begin + counts // 2]) / 2
    return np.asarray(medians[codes])
