# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Judgements and figures in the words of the table and of the page."""

from heapwright.artefacts.taxonomy.document import Blowup, Estimate, Published, Row

BLOWUP: dict[Blowup, str] = {"none": "none", "linear": "O(P)", "unbounded": "unbounded"}
UNKNOWN = "?"
NOTHING = "-"


def tick(value: bool | None) -> str:
    return UNKNOWN if value is None else "yes" if value else "no"


def sharing_text(row: Row) -> str:
    """Whether lines are shared: "no", or in which ways, or "?"."""
    found = row.false_sharing
    if found.active is None and found.passive is None:
        return UNKNOWN
    ways = [name for name, way in (("active", found.active), ("passive", found.passive)) if way]
    if ways:
        return ", ".join(ways)
    return f"none but {row.sharing.elsewhere}" if row.sharing.elsewhere else "none"


def blowup_text(blowup: Blowup | None) -> str:
    return UNKNOWN if blowup is None else BLOWUP[blowup]


def figure(value: float) -> str:
    """Three digits, without an exponent where that can be."""
    value += 0.0 if abs(value) >= 0.005 else -value  # no -0.00
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def interval(estimate: Estimate | None) -> str:
    """`2.31 (2.20 to 2.42)`."""
    if estimate is None:
        return NOTHING
    if estimate.low is None or estimate.high is None:
        return figure(estimate.value)
    return f"{figure(estimate.value)} ({figure(estimate.low)} to {figure(estimate.high)})"


def published_ticks(published: Published | None) -> tuple[str, str, str, str]:
    """Fast, scalable, false sharing, blowup as the literature has them."""
    if published is None:
        return (NOTHING,) * 4
    avoids = published.avoids_false_sharing
    return (
        published.fast or NOTHING,
        published.scalable or NOTHING,
        {"yes": "none", "no": "some", "maybe": "maybe"}[avoids] if avoids else NOTHING,
        BLOWUP[published.blowup] if published.blowup else NOTHING,
    )
