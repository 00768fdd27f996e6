# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Variants of a sentence that serve some call sites from a heap of their own.

A replay cannot judge them, because the replayer is the caller of each request. They race on the
program itself.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from heapwright.base.quantities import several
from heapwright.base.quantities import size as bytes_text
from heapwright.tailor.figures import Figures
from heapwright.tailor.grammar import ARENA, Sentence, SiteHeap
from heapwright.tailor.sites import YOUNG, SiteKey, SiteLives

MOSTLY_YOUNG = 0.99
"""Of the bytes of a call site: its objects are predicted to be young when they are freed."""
MOST_SITES = 256
SMALL = 0.0001
"""Of the allocations: a call site with less is left out."""
COVERED = 0.1
"""Of the allocations: less is not worth a search in the table for each request."""
LARGEST = ARENA // 8
"""Bytes of a block that an arena serves."""


@dataclass(frozen=True, slots=True)
class _Ring:
    arenas: int
    pinned: int
    """Arenas that may have an old object at once."""


RINGS = (_Ring(64, 16), _Ring(512, 256))


def site_variants(sentence: Sentence, figures: Figures) -> tuple[Sentence, ...]:
    """The sentence with a heap for call sites above it. Empty if they make too few requests, or if
    the figures have no call sites."""
    if sentence.sites is not None:
        return ()
    found: dict[tuple[SiteKey, ...], Sentence] = {}
    for ring in RINGS:
        chosen = brief_sites(figures, ring.pinned)
        if _cover(chosen, figures) >= COVERED:
            found.setdefault(tuple(chosen), _variant(sentence, figures, chosen, ring))
    return tuple(found.values())


def brief_sites(figures: Figures, most_pinned: int) -> dict[SiteKey, SiteLives]:
    """The call sites whose objects are freed soon, those with most requests first. At most
    `most_pinned` of their objects are old at once."""
    young = [
        (key, each)
        for key, each in figures.sites.items()
        if each.young_share >= MOSTLY_YOUNG
        and each.old_at_once is not None
        and key.block <= LARGEST
        and each.by_one_thread >= SMALL * figures.allocations
    ]
    young.sort(key=lambda pair: ((pair[1].old_at_once or 0) / pair[1].by_one_thread, pair[0]))
    pinned, found = 0, []
    for key, each in young:
        if pinned + (each.old_at_once or 0) <= most_pinned:
            pinned += each.old_at_once or 0
            found.append((key, each))
    found.sort(key=lambda pair: (-pair[1].by_one_thread, pair[0]))
    return dict(found[:MOST_SITES])


def _cover(chosen: dict[SiteKey, SiteLives], figures: Figures) -> float:
    """The share of all allocations that one thread makes at these call sites."""
    return sum(each.by_one_thread for each in chosen.values()) / max(1, figures.allocations)


def _variant(
    sentence: Sentence, figures: Figures, chosen: dict[SiteKey, SiteLives], ring: _Ring
) -> Sentence:
    return replace(
        sentence,
        name=f"{sentence.name}-sites-{ring.arenas}",
        sites=SiteHeap(tuple(sorted(chosen)), ring.arenas),
        reasons={**sentence.reasons, **dict(_reasons(figures, chosen))},
    )


def _reasons(figures: Figures, chosen: dict[SiteKey, SiteLives]) -> Iterator[tuple[str, str]]:
    least = min(each.young_share for each in chosen.values())
    old = sum(each.old_at_once or 0 for each in chosen.values())
    yield (
        "sites",
        f"one thread makes {_cover(chosen, figures):.0%} of the allocations at "
        f"{several(len(chosen), 'call site')}. At each, at least {100 * least:.4g} % of the bytes "
        f"are freed before the program has requested {bytes_text(YOUNG)} more",
    )
    yield "arenas", f"at most {several(old, 'object')} of these are live for longer at once"
