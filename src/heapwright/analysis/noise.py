# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The scatter of equal runs, and the smallest difference that can therefore be seen.

Neighbouring runs are taken as pairs: a block of an experiment with two equal treatments. Common
influences of a pair, such as a slow hour, cancel as in blocks. The smallest difference that n
blocks show is (t(1 - alpha/2) + t(power)) s / sqrt(n). It has n - 1 degrees of freedom, and s is
the standard deviation of the pairs' log ratios. The test of a true difference of this size is
significant with the chosen power. If pairs are still dependent, fewer count (`gate.welch`).

Source: Cohen, Statistical Power Analysis, chapter 2.
"""

import math
from collections.abc import Sequence

import numpy as np

from heapwright.analysis.gate.welch import Sample
from heapwright.analysis.numerics.distributions import student_quantile
from heapwright.artefacts.checkup.document import Noise, Visible

POWER = 0.8
CONFIDENCE = 0.95
FEWEST_PAIRS = 3
LONGER_RUNS_S = (1.0, 10.0)


def noise_of(
    command: Sequence[str],
    times: Sequence[tuple[float, float | None]],
    *,
    budget_s: float,
    faults: int | None = None,
    own_length_first: bool = True,
) -> Noise:
    """The noise of repeated runs of one command: (wall, processor) seconds in the order of the
    runs.

    An odd last run is left out of the pairs. Raises ValueError with fewer than FEWEST_PAIRS pairs.
    """
    walls = [wall for wall, _ in times]
    cpus = [cpu for _, cpu in times if cpu]
    pairs = len(walls) // 2
    if pairs < FEWEST_PAIRS:
        raise ValueError(f"{2 * FEWEST_PAIRS} runs are needed, not {len(walls)}")
    logs = np.log(np.asarray(walls, dtype=np.float64))
    ratios = Sample.of(logs[1 : 2 * pairs : 2] - logs[0 : 2 * pairs : 2])
    middle = float(np.median(np.asarray(walls)))
    lengths = [middle, *LONGER_RUNS_S] if own_length_first else [*LONGER_RUNS_S, middle]
    return Noise(
        command=tuple(command),
        runs=len(walls),
        run_s=middle,
        scatter=float(logs.std(ddof=1)),
        pair_scatter=ratios.deviation,
        cpu_scatter=float(np.log(np.asarray(cpus)).std(ddof=1))
        if len(cpus) == len(walls)
        else None,
        slowest=max(walls) / middle,
        drift=float(np.exp(logs[len(logs) // 2 :].mean() - logs[: len(logs) // 2].mean())),
        effective_pairs=ratios.effective,
        faults=faults,
        visible=tuple(visible(ratios, length, budget_s) for length in lengths),
    )


def visible(ratios: Sample, run_s: float, budget_s: float) -> Visible:
    """What a budget shows of two allocators on runs of this length, if they scatter likewise."""
    blocks = int(budget_s / (2 * run_s)) if run_s > 0 else 0
    return Visible(
        budget_s=budget_s,
        run_s=run_s,
        blocks=blocks,
        difference=smallest_difference(ratios, blocks),
    )


def smallest_difference(ratios: Sample, blocks: int) -> float | None:
    """As a fraction; None if so few blocks show no scatter."""
    if blocks < 2:
        return None
    freedom = blocks - 1
    both = student_quantile((1 + CONFIDENCE) / 2, freedom) + student_quantile(POWER, freedom)
    worth = max(blocks * ratios.thinning, 1.0)
    return math.expm1(both * ratios.deviation / math.sqrt(worth))
