# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Change points of a series, with a bound on false alarms that holds at every length.

Method: if the values are exchangeable, the rank of each new value among all values so far is
uniform and independent of the earlier ranks. An e-process bets that ranks after a change lie near
one end. One such e-process starts at each value. The process that starts at value j has the weight
10 / ((j + 9) (j + 10)), and the weights sum to 1. Their weighted sum is a martingale. In histories
without a change it exceeds 1 / error with a probability of at most `error`, for any number of
examinations (Ville's inequality). Ranks make it robust against heavy tails. Ties are ordered by a
fixed random sequence. The change is placed where two medians fit the values up to the alarm best.
After a change the detector starts anew with half of the remaining error.

Exact counts have no noise, so ranks would waste what each value tells. `steps` compares each value
with the level before it.

Source: Vovk, Nouretdinov and Gammerman (2003), Testing exchangeability on-line; Shin, Ramdas and
Rinaldo (2023), E-detectors.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from heapwright.artefacts.history.model import Found

Floats = npt.NDArray[np.float64]

ERROR = 0.01
"""Probability of any false alarm in a history without a change."""
POWERS = (2.0, 5.0, 12.0)
"""Exponents of the bets: larger ones bet on ranks closer to the end."""
FEWEST = 5
"""Values before a change, so that its size can be stated."""


def changes(values: Sequence[float], *, error: float = ERROR, margin: float = 0.0) -> list[Found]:
    """The changes of a series of positive values, in their order.

    `error` bounds the probability of any false alarm. A change of at most `margin`, as a fraction,
    is not reported.
    """
    logs = np.log(np.asarray(values, dtype=np.float64))
    found: list[Found] = []
    begin, left = 0, error
    while len(logs) - begin > FEWEST:
        left /= 2
        first = _first(logs[begin:], left)
        if first is None:
            break
        at, alarm = begin + first[0], begin + first[1]
        after = logs[at : _end_of(logs, at, alarm)]
        ratio = float(np.exp(np.median(after) - np.median(logs[begin:at])))
        if abs(ratio - 1) > margin:
            found.append(Found(at, alarm, ratio))
        begin = at
    return found


def steps(values: Sequence[float], *, margin: float) -> list[Found]:
    """The changes of a series of exact counts, in their order.

    A value is a change if it differs from the median since the last change by more than `margin`,
    a fraction, and the next value, if any, does so in the same direction. The values before it must
    lie within the margin of each other. Otherwise the counts are not exact, and nothing is found
    until the next ones are.
    """
    found: list[Found] = []
    begin = 0
    for at in range(FEWEST, len(values)):
        before = values[begin:at]
        if len(before) < FEWEST or max(before) > (1 + margin) * min(before):
            continue
        level = float(np.median(before))
        apart = [each / level - 1 for each in values[at : at + 2]]
        if all(each > margin for each in apart) or all(each < -margin for each in apart):
            found.append(Found(at, at + len(apart) - 1, _ratio_of_step(values, at, level)))
            begin = at
    return found


def _ratio_of_step(values: Sequence[float], at: int, level: float) -> float:
    return float(np.median(values[at : at + FEWEST])) / level


def _end_of(logs: Floats, at: int, alarm: int) -> int:
    """The values that state the size of a change: up to the alarm, and at least `FEWEST`."""
    return min(len(logs), max(alarm + 1, at + FEWEST))


def _first(logs: Floats, error: float) -> tuple[int, int] | None:
    """Start and alarm of the first change; None without an alarm."""
    ranks = _ranks(logs)
    sides = (ranks, 1 - ranks)
    bets = np.stack([power * side ** (power - 1) for power in POWERS for side in sides])
    count = len(logs)
    starts = np.arange(1, count + 1)
    weights = 10.0 / ((starts + 9.0) * (starts + 10.0))
    # wealth[bet, start]: the product of the bets since the start, times the weight of the start.
    wealth = np.zeros((len(bets), count))
    for now in range(count):
        wealth[:, : now + 1] *= bets[:, now : now + 1]
        wealth[:, now] = weights[now] * bets[:, now]
        if wealth.sum() / len(bets) + weights[now + 1 :].sum() >= 1 / error:
            return (_place(logs[: now + 1]), now) if now >= FEWEST else None
    return None


def _place(logs: Floats) -> int:
    """The split into two parts with the least sum of distances to their medians."""

    def misfit(at: int) -> float:
        parts = (logs[:at], logs[at:])
        return sum(float(np.abs(part - np.median(part)).sum()) for part in parts)

    return min(range(FEWEST, len(logs)), key=misfit)


def _ranks(logs: Floats) -> Floats:
    """The rank of each value among those up to it, as a fraction; ties by a fixed sequence."""
    ties = np.random.default_rng(0).random(len(logs))
    ranks = np.empty(len(logs))
    for now, value in enumerate(logs):
        before = logs[:now]
        lower = np.count_nonzero(before < value)
        equal = np.count_nonzero(before == value)
        ranks[now] = (lower + ties[now] * (equal + 1)) / (now + 1)
    return ranks
