# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The verdict of exact counts: which candidate executes the fewest instructions.

Two runs of a deterministic program have equal counts, so a difference between candidates needs no
statistics. The runs of each candidate are compared first. Their largest relative difference is the
*spread*. A candidate differs from the baseline if their counts differ by more than three spreads
and by more than `LEAST`. `LEAST` covers the lengths of paths and of the environment. Above
`MOST_SPREAD` the program is not deterministic, and nothing is concluded. A candidate with fewer
instructions must also have fewer estimated cycles.
"""

from collections.abc import Sequence

from heapwright.artefacts.comparison.counts import Counted, counted
from heapwright.artefacts.comparison.document import Key, Verdict, label_of
from heapwright.artefacts.run.exact_counts import INSTRUCTIONS, L1_MISSES, LL_MISSES
from heapwright.artefacts.run.measured import Run

LEAST = 0.0005
SPREADS = 3.0
MOST_SPREAD = 0.01
NOT_TIME = (
    "instructions are not time: caches and system calls can change the order. To confirm it: the "
    "same command without --exact"
)


def decide_exact(runs: Sequence[Run], keys: Sequence[Key], margin: float) -> Verdict:
    """What to do. `keys` are the treatments without a bad outcome, the baseline first."""
    found = [each for key in keys if (each := counted(runs, key)) is not None]
    if not found or found[0].key != keys[0]:
        return _undecided(f"nothing was counted under {label_of(*keys[0])}, the baseline")
    baseline, others = found[0], found[1:]
    if min(each.runs for each in found) < 2:
        return _undecided(
            "one run cannot show that the counts repeat", "count twice or more (-n 2)"
        )
    worst = max(found, key=lambda each: each.spread)
    if worst.spread > MOST_SPREAD:
        return _undecided(
            f"the counts do not repeat: runs under {worst.label} differ by "
            f"{_percent(worst.spread)} in instructions",
            "exact counts need a deterministic program: fix its seeds and its threads, or compare "
            "without --exact",
        )
    if not others:
        return Verdict(
            action="undecided",
            allocator=None,
            reason=f"Counted: {baseline.label} executes {baseline.counts[INSTRUCTIONS]:,.0f} "
            f"instructions ({_repeated(found)}). There is nothing to compare with",
            notes=(
                "to compare: name another allocator with -a, or another --command",
                "to see a later change: keep this document (--json), then heapwright gate",
            ),
        )
    return _between(baseline, others, found, margin)


def _between(
    baseline: Counted, others: Sequence[Counted], found: Sequence[Counted], margin: float
) -> Verdict:
    """The verdict on repeatable counts of several treatments."""
    spread = max(each.spread for each in found)
    limit = max(margin, LEAST, SPREADS * spread)

    def instructions(each: Counted) -> float:
        return each.ratio(baseline, INSTRUCTIONS) or 1.0

    best = min(others, key=lambda each: (instructions(each), each.key))
    words = f"{_figures(best, baseline)} ({_repeated(found)})"
    if instructions(best) < 1 - limit:
        if best.estimate / baseline.estimate > 1 - limit:
            return _undecided(
                f"{best.label} executes fewer instructions and misses the cache more: {words}",
                NOT_TIME,
            )
        ties = [
            f"{each.label} is close to it: {_figures(each, baseline)}"
            for each in others
            if each is not best and instructions(each) / instructions(best) < 1 + limit
        ]
        return Verdict(
            action="switch",
            allocator=best.key[0],
            level=best.key[1],
            reason=f"Switch to {best.label}: {words}",
            notes=(*ties, NOT_TIME),
        )
    same = all(1 - limit <= instructions(each) <= 1 + limit for each in others)
    why = "No difference that matters" if same else "Nothing executes fewer instructions"
    closest = f"the best, {best.label}: {words}"
    return Verdict(
        action="stay",
        allocator=baseline.key[0],
        level=baseline.key[1],
        reason=f"{why}: stay with {baseline.label}",
        notes=(closest, NOT_TIME),
    )


def _figures(each: Counted, baseline: Counted) -> str:
    """Such as "12.3 % fewer instructions, 3.1 % more first-level misses"."""
    names = {
        INSTRUCTIONS: "instructions",
        L1_MISSES: "first-level misses",
        LL_MISSES: "last-level misses",
    }
    parts = []
    for count, name in names.items():
        ratio = each.ratio(baseline, count)
        if ratio is not None:
            change = "more" if ratio >= 1 else "fewer"
            parts.append(f"{_percent(abs(ratio - 1))} {change} {name}")
    return ", ".join(parts)


def _repeated(found: Sequence[Counted]) -> str:
    """How well the counts repeat."""
    runs = min(each.runs for each in found)
    spread = max(each.spread for each in found)
    how = "equal" if spread == 0 else f"equal within {_percent(spread)}"
    return f"exact count, {runs} runs {how}"


def _percent(fraction: float) -> str:
    """Three significant digits: "12.3 %", "0.0021 %"."""
    return f"{100 * fraction:.3g} %"


def _undecided(reason: str, *notes: str) -> Verdict:
    return Verdict(action="undecided", allocator=None, reason=f"Undecided: {reason}", notes=notes)
