# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Adaptive repetition: when to look at the data, at which confidence, and when to stop.

Repeated looks until the intervals are narrow give intervals with too little coverage. The looks are
therefore fixed beforehand, and the error rate is shared among them in equal parts (Bonferroni).
With error rate e and four looks, the intervals of each look may err with e / 4. The intervals at
the last look then hold with at least 1 - e, for any stopping rule. The page
docs/explanation/methods.md gives the reason for equal parts, and their cost.

The stopping rule uses only the widths, never the positions of the intervals.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from heapwright.artefacts.comparison.document import Effect

LOOKS = (5, 10, 20, 30)


@dataclass(frozen=True, slots=True)
class LookPlan:
    """When to judge the precision, and the required precision.

    `until` is the required half-width, as a fraction. None: the number of blocks is fixed, and the
    only look is the last, with the whole error rate.
    """

    looks: tuple[int, ...]
    until: float | None
    confidence: float

    def __post_init__(self) -> None:
        if not self.looks or any(b >= a for b, a in zip(self.looks, self.looks[1:], strict=False)):
            raise ValueError(f"looks must be increasing numbers of blocks, not {self.looks}")
        if self.looks[0] < 1 or not 0 < self.confidence < 1:
            raise ValueError("a look needs a block, and a confidence lies between 0 and 1")

    @property
    def level(self) -> float:
        """The confidence of the intervals at any one look, or at an interruption before it."""
        return 1 - (1 - self.confidence) / len(self.looks)

    @property
    def most_blocks(self) -> int:
        return self.looks[-1]


def adaptive(until: float, confidence: float = 0.95) -> LookPlan:
    """Continue until every half-width is at most `until`, but not beyond the last look."""
    if not until > 0:
        raise ValueError(f"a half-width is larger than 0, not {until}")
    return LookPlan(LOOKS, until, confidence)


def fixed(blocks: int, confidence: float = 0.95) -> LookPlan:
    """Run this many blocks, with any result."""
    return LookPlan((blocks,), None, confidence)


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether to stop, and the rule behind it."""

    stop: bool
    because: str


def half_width(effect: Effect) -> float:
    """Half the width of an interval, as a fraction of the ratio: sqrt(high / low) - 1.

    The interval is symmetric on the log scale, so the ratio times or by (1 + half-width) are its
    ends. Infinite if the interval is not bounded.
    """
    if effect.low is None or effect.high is None or effect.low <= 0:
        return math.inf
    return math.sqrt(effect.high / effect.low) - 1


def widest(effects: Iterable[Effect]) -> tuple[float, Effect] | None:
    """The widest interval of a ratio in time or memory, and whose it is; None if there are none."""
    judged = (e for e in effects if e.response in {"time", "memory"} and not _is_reference(e))
    return max(((half_width(e), e) for e in judged), key=lambda pair: pair[0], default=None)


def decide(plan: LookPlan, blocks: int, effects: Iterable[Effect]) -> Decision:
    """What to do after `blocks` measured blocks, whose effects at `plan.level` are given.

    Between looks the answer is always to continue.
    """
    if blocks >= plan.most_blocks and plan.until is None:
        are = "is" if blocks == 1 else "are"
        return Decision(True, f"the {blocks} requested {_blocks(blocks)} {are} done")
    if blocks not in plan.looks and blocks < plan.most_blocks:
        return Decision(False, f"the next look is at {next_look(plan, blocks)} blocks")
    worst = widest(effects)
    if worst is None:
        return Decision(True, f"after {blocks} {_blocks(blocks)} nothing is left to compare")
    width, effect = worst
    asked = plan.until if plan.until is not None else math.inf
    if width <= asked:
        return Decision(
            True, f"after {blocks} blocks every ratio is known to {_percent(asked)} or better"
        )
    if blocks >= plan.most_blocks:
        whose = f"{effect.allocator} [{effect.level}]" if effect.level else effect.allocator
        return Decision(
            True,
            f"the limit of {blocks} blocks is reached; the widest half-width is "
            f"{_percent(width)} ({effect.response} of {whose}), {_percent(asked)} was required",
        )
    return Decision(False, f"the widest half-width is {_percent(width)} after {blocks} blocks")


def next_look(plan: LookPlan, blocks: int) -> int | None:
    """The look that comes after `blocks` blocks; None if there is none."""
    return next((look for look in plan.looks if look > blocks), None)


def _is_reference(effect: Effect) -> bool:
    """The baseline's own ratio is 1 without a width."""
    return effect.ratio == 1 and effect.low == 1 and effect.high == 1


def _blocks(number: int) -> str:
    return "block" if number == 1 else "blocks"


def _percent(fraction: float) -> str:
    if math.isinf(fraction):
        return "unknown"
    return f"{100 * fraction:.2g} %" if fraction < 1 else f"{100 * fraction:.0f} %"
