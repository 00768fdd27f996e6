# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The last step of a search: fresh runs of one candidate and of the default, in pairs.

The search has not used these runs, and only one candidate is compared. Its interval therefore needs
no correction for the number of settings that were tried. The candidate is recommended if

    the whole interval of the objective lies below the default,
    the estimated gain is more than the margin,
    and the whole interval of the other figure stays under the cap.

There are three looks, and each has a third of the error rate. A candidate that is worse than the
default is thus recommended with a chance of at most half the error rate.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from heapwright.analysis.ratio_text import Span
from heapwright.analysis.signed_rank import centre_of
from heapwright.analysis.tuning.space import Measured

Pairs = Sequence[tuple[Measured, Measured]]
"""The default and the candidate in one block."""
Judgement = Literal["better", "surely no gain", "no gain", "over the cap", "failed", "unclear"]

UNCLEAR = 0.15
"""An interval that allows this gain, and shows none, decides nothing."""


@dataclass(frozen=True, slots=True)
class Confirmation:
    """What the fresh runs say of the candidate; ratios to the default."""

    judgement: Judgement
    pairs: int
    objective: Span | None
    other: Span | None

    @property
    def is_final(self) -> bool:
        """Whether further pairs would hardly change the answer."""
        return self.judgement in {"better", "failed", "surely no gain"}


def confirmed(
    pairs: Pairs, *, failed: bool, margin: float, cap: float | None, confidence: float
) -> Confirmation:
    """Judge the pairs. `cap` is the largest ratio of the other figure; None: any."""
    objective = ratio_of([(d.objective, c.objective) for d, c in pairs], confidence)
    others = [(d.other, c.other) for d, c in pairs if d.other and c.other]
    other = ratio_of(others, confidence)
    judgement = _judgement(objective, other, margin, cap)
    return Confirmation("failed" if failed else judgement, len(pairs), objective, other)


def _judgement(
    objective: Span | None, other: Span | None, margin: float, cap: float | None
) -> Judgement:
    if objective is None:
        return "unclear"
    if objective.low > 1 - margin:
        return "surely no gain"
    if objective.high >= 1 or objective.ratio > 1 - margin:
        return "unclear" if objective.low < 1 - UNCLEAR else "no gain"
    if cap is not None and (other is None or other.high > cap):
        return "over the cap"
    return "better"


def ratio_of(pairs: Sequence[tuple[float, float]], confidence: float) -> Span | None:
    """The ratio of the second figures to the first, with its interval; None without a pair."""
    if not pairs:
        return None
    found = centre_of([math.log(second / first) for first, second in pairs], confidence)
    high = math.exp(found.high) if math.isfinite(found.high) else math.inf
    return Span(math.exp(found.estimate), math.exp(found.low), high)
