# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The finalists of a search and its answer: pure functions of figures."""

import math
from collections.abc import Mapping, Sequence

from heapwright.artefacts.comparison.document import Comparison
from heapwright.artefacts.tailoring.costs import costs
from heapwright.artefacts.tailoring.document import Answer, Beside, Judgement, Ratio, Verdict
from heapwright.artefacts.tailoring.folder import Replayed

FINALISTS = 3
GAIN = 0.03
"""The tailored allocator is worth it from this gain in time or in peak memory."""
LOSS = 0.01
"""And with at most this loss of the other figure."""
RACED_NEIGHBOURS = 2
LEAST_GAIN = 0.005
"""A neighbour of the winner is an improvement from this gain in time or in peak memory."""
SLOWEST = 1.25
"""Times the fastest replay: the calls are a part of a program, but one this slow is no finalist."""


def front(replays: Mapping[str, Replayed]) -> list[str]:
    """The candidates that no other beats in both figures, the fastest first."""
    cost = costs(replays)
    measured = [
        (cost[name], each.peak_bytes, name)
        for name, each in replays.items()
        if name in cost and each.peak_bytes is not None
    ]
    found: list[str] = []
    least = math.inf
    for _, peak, name in sorted(measured):
        if peak < least:
            least = peak
            found.append(name)
    return found


def finalists(replays: Mapping[str, Replayed]) -> list[str]:
    """At most `FINALISTS` of the front: the fastest, and the leanest that is not too slow. The
    others have the least product of both figures."""
    ranked = front(replays)
    if not ranked:
        return []
    cost = costs(replays)
    near = [name for name in ranked if cost[name] <= SLOWEST * cost[ranked[0]]]
    chosen = [near[0], near[-1]]

    def product(name: str) -> float:
        return cost[name] * (replays[name].peak_bytes or 0)

    rest = sorted(set(ranked) - set(chosen), key=product)
    return list(dict.fromkeys([*chosen, *rest]))[:FINALISTS]


def improving(replays: Mapping[str, Replayed], winner: str) -> list[str]:
    """At most `RACED_NEIGHBOURS` that gain beside the winner in the replays.

    They are on the front of all, gain `LEAST_GAIN` in a figure, and take at most `SLOWEST` times as
    long. Those with the least product of both figures are chosen. Without figures of the winner,
    there are none.
    """
    cost, own = costs(replays), replays[winner]
    if not cost.get(winner) or not own.peak_bytes:
        return []
    ratios = {
        name: (cost[name] / cost[winner], (replays[name].peak_bytes or 0) / own.peak_bytes)
        for name in front(replays)
    }
    gaining = [
        name for name, pair in ratios.items() if min(pair) <= 1 - LEAST_GAIN and pair[0] <= SLOWEST
    ]
    return sorted(gaining, key=lambda name: math.prod(ratios[name]))[:RACED_NEIGHBOURS]


def leanest_near(ratios: Mapping[str, tuple[float, float]], margin: float) -> str | None:
    """The leanest of those whose time is within the margin of the fastest.

    `ratios` has time and memory by name. They are infinite for one that failed. None: all failed.
    """
    least = min((time for time, _ in ratios.values()), default=math.inf)
    near = [name for name, (time, _) in ratios.items() if time <= (1 + margin) * least]
    return min(near, key=lambda name: ratios[name][1]) if least < math.inf else None


def improves(time: Ratio | None, memory: Ratio | None) -> bool:
    """Whether a race shows a gain in one figure, beside the winner so far."""
    return any(each is not None and _gains(each, LEAST_GAIN) for each in (time, memory))


def beside_of(comparison: Comparison, peer: str, figure: str) -> Beside:
    """The baseline of a comparison, which is the tailored allocator, beside an existing one."""
    time = _inverse(comparison, peer, figure)
    memory = _inverse(comparison, peer, "memory")
    return Beside(allocator=peer, time=time, memory=memory, verdict=_verdict(time, memory))


def _inverse(comparison: Comparison, peer: str, response: str) -> Ratio | None:
    """Of the baseline to the peer."""
    effect = comparison.effect((peer, ""), response)
    if effect is None:
        return None
    return Ratio(
        ratio=1 / effect.ratio,
        low=1 / effect.high if effect.high else None,
        high=1 / effect.low if effect.low else None,
    )


def _verdict(time: Ratio | None, memory: Ratio | None) -> Verdict:
    if time is None or memory is None:
        return "failed"
    pairs = ((time, memory), (memory, time))
    if any(_gains(one, GAIN) and other.ratio <= 1 + LOSS for one, other in pairs):
        return "better"
    if _gains(time, GAIN) or _gains(memory, GAIN):
        return "trade"
    worse = any(each.low is not None and each.low > 1 + LOSS for each in (time, memory))
    return "worse" if worse else "same"


def _gains(ratio: Ratio, least: float) -> bool:
    return ratio.ratio <= 1 - least and ratio.high is not None and ratio.high < 1


def answer_of(name: str, found: Sequence[Judgement], *, inputs: int) -> Answer:
    """The answer of a finished search.

    The tailored allocator is worth it if it beats the fastest existing one, and if none of the
    others is as good in both figures. On several inputs, this must hold for each. An existing one
    that failed on any input does not count.
    """
    notes = []
    if not any(each.unseen for each in found):
        notes.append(
            "judged on the input of the search alone: another input may give another result. "
            "--unseen COMMAND names one"
        )
    if inputs == 1:
        notes.append("one training input: the steps fit that one. --input adds another")
    failed = list(
        dict.fromkeys(
            each.allocator
            for judgement in found
            for each in judgement.beside
            if each.verdict == "failed"
        )
    )
    notes += [f"{each} gave no complete runs, so it is no answer" for each in failed]
    usable = [
        (judgement, [each for each in judgement.beside if each.allocator not in failed])
        for judgement in found
    ]
    every = [(judgement, each) for judgement, others in usable for each in others]
    if not every:
        why = "no existing allocator gave complete runs" if failed else "nothing was judged"
        return Answer(
            action="undecided",
            allocator="",
            reason=f"Undecided: {why}",
            notes=tuple(notes),
        )
    against = [
        (judgement, each)
        for judgement, others in usable
        for each in others
        if each.verdict in ("worse", "same") or (each.verdict == "trade" and each is others[0])
    ]
    if not against:
        judgement, best = every[0]
        reason = f"Use {name}: {beside(judgement, best)}"
        return Answer(action="tailored", allocator=name, reason=reason, notes=tuple(notes))
    judgement, other = against[0]
    reason = (
        f"No special allocator is worth it, so use {other.allocator}: {name} has "
        f"{beside(judgement, other)}"
    )
    return Answer(action="existing", allocator=other.allocator, reason=reason, notes=tuple(notes))


def beside(judgement: Judgement, other: Beside) -> str:
    """Such as "-4.1 % processor time (-5.0 to -3.2) and +0.2 % peak memory (…) beside glibc"."""
    if other.time is None or other.memory is None:
        return f"no complete runs beside {other.allocator}"
    time = "processor time" if judgement.figure == "cpu" else "wall time"
    return (
        f"{change(other.time)} {time} and {change(other.memory)} peak memory beside "
        f"{other.allocator}"
    )


def change(ratio: Ratio) -> str:
    """Such as "-4.1 % (-5.0 to -3.2)"."""
    text = f"{100 * (ratio.ratio - 1):+.1f} %"
    if ratio.low is None or ratio.high is None:
        return text
    return f"{text} ({100 * (ratio.low - 1):+.1f} to {100 * (ratio.high - 1):+.1f})"
