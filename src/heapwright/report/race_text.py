# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The text of a race: the figure that decided it, and when and why each candidate left."""

from heapwright.artefacts.comparison.document import Comparison, Departure

FIGURES = {
    "cpu": "Decided by processor time, because the program keeps one processor busy.",
    "time": "Decided by wall time, because the program waits, uses several processors, or is timed "
    "from outside.",
}


def race_legend(comparison: Comparison) -> list[str]:
    """The lines that explain a race; none for complete blocks."""
    if comparison.design.race is None:
        return []
    return [
        f"A race: slow candidates left early. {FIGURES[comparison.design.race]}",
        "Intervals of this figure hold at all blocks at once.",
    ]


def departure_of(comparison: Comparison, label: str) -> str:
    """Why a treatment left; "" if it did not."""
    departures = () if comparison.race is None else comparison.race.departures
    mine = {info.key: info.label for info in comparison.treatments}
    is_baseline = label == comparison.design.baseline
    texts = (_text(each, is_baseline) for each in departures if mine.get(each.key) == label)
    return next(texts, "")


def _text(departure: Departure, is_baseline: bool) -> str:
    return departure_text(
        departure.block, departure.why, departure.ratio, departure.leader, is_baseline=is_baseline
    )


def departure_text(
    block: int,
    why: str,
    ratio: float | None,
    leader: str | None = None,
    *,
    is_baseline: bool = False,
) -> str:
    """Such as "left after block 4: 18 % slower than jemalloc".

    The baseline is run to the end, because all ratios refer to it.
    """
    where = "the warm-up" if block < 1 else f"block {block}"
    reason = why
    if ratio is not None:
        reason = f"{100 * (ratio - 1):.0f} % slower than {leader or 'the leader'}"
    return f"{'not the best since' if is_baseline else 'left after'} {where}: {reason}"
