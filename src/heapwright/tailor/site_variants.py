# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Variants of a sentence that serve some call sites from a heap of their own.

A replay cannot judge them, because the replayer is the caller of each request. They race on the
program itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from heapwright.base.quantities import several
from heapwright.base.quantities import size as bytes_text
from heapwright.tailor.figures import Figures
from heapwright.tailor.grammar import LARGEST, MIB, Sentence, SiteHeap
from heapwright.tailor.sites import YOUNG, SiteKey, SiteLives

Chosen = dict[SiteKey, SiteLives]
MOSTLY = 0.99
"""Of the bytes of a call site: they are freed while they are young, or never."""
MOST_SITES = 256
SMALL = 0.0001
"""Of the allocations: a call site with less is left out."""
COVERED = 0.1
"""Of the allocations, or of the live bytes at the peak: less is not worth a search in the table for
each request."""
LEAST_AREA, MOST_AREA = 1 * MIB, 1024 * MIB


@dataclass(frozen=True, slots=True)
class _Ring:
    arenas: int
    pinned: int
    """Arenas that may have an old object at once."""


RINGS = (_Ring(64, 16), _Ring(512, 256))


def site_variants(sentence: Sentence, figures: Figures) -> tuple[Sentence, ...]:
    """The sentence with heaps for call sites above it, at most four. Empty if these call sites have
    too few objects, or if the figures have no call sites."""
    if sentence.sites:
        return ()
    found: dict[tuple[SiteKey, ...], Sentence] = {}
    for ring in RINGS:
        chosen = brief_sites(figures, ring.pinned)
        if _cover(chosen, figures) >= COVERED:
            found.setdefault(tuple(chosen), _brief(sentence, figures, chosen, ring))
    brief = tuple(found.values())
    chosen = lasting_sites(figures)
    if _bytes(chosen) < COVERED * figures.peak_bytes:
        return brief
    lasting = _lasting(sentence, figures, chosen)
    return (*brief, lasting, *(_both(lasting, each) for each in brief[-1:]))


def brief_sites(figures: Figures, most_pinned: int) -> Chosen:
    """The call sites whose objects are freed soon, those with most requests first. At most
    `most_pinned` of their objects are old at once."""
    young = [
        (key, each)
        for key, each in _large_enough(figures)
        if each.young_share >= MOSTLY and each.old_at_once is not None
    ]
    young.sort(key=lambda pair: ((pair[1].old_at_once or 0) / pair[1].by_one_thread, pair[0]))
    pinned, found = 0, []
    for key, each in young:
        if pinned + (each.old_at_once or 0) <= most_pinned:
            pinned += each.old_at_once or 0
            found.append((key, each))
    return _most_requested(found)


def lasting_sites(figures: Figures) -> Chosen:
    """The call sites whose objects are never freed, those with most requests first."""
    return _most_requested(
        [pair for pair in _large_enough(figures) if pair[1].lasting_share >= MOSTLY]
    )


def _large_enough(figures: Figures) -> list[tuple[SiteKey, SiteLives]]:
    """The call sites that a heap of their own can serve, and that are worth an entry."""
    return [
        (key, each)
        for key, each in figures.sites.items()
        if key.block <= LARGEST and each.by_one_thread >= SMALL * figures.allocations
    ]


def _most_requested(found: list[tuple[SiteKey, SiteLives]]) -> Chosen:
    found.sort(key=lambda pair: (-pair[1].by_one_thread, pair[0]))
    return dict(found[:MOST_SITES])


def _cover(chosen: Chosen, figures: Figures) -> float:
    """The share of all allocations that one thread makes at these call sites."""
    return sum(each.by_one_thread for each in chosen.values()) / max(1, figures.allocations)


def _bytes(chosen: Chosen) -> int:
    """Of the blocks that one thread requests at these call sites."""
    return sum(key.block * each.by_one_thread for key, each in chosen.items())


def _brief(sentence: Sentence, figures: Figures, chosen: Chosen, ring: _Ring) -> Sentence:
    least = min(each.young_share for each in chosen.values())
    old = sum(each.old_at_once or 0 for each in chosen.values())
    reasons = {
        "brief-sites": f"one thread makes {_cover(chosen, figures):.0%} of the allocations at "
        f"{several(len(chosen), 'call site')}. At each, at least {100 * least:.4g} % of the bytes "
        f"are freed before the program has requested {bytes_text(YOUNG)} more",
        "brief-memory": f"at most {several(old, 'object')} of these are live for longer at once",
    }
    heap = SiteHeap("Brief", tuple(sorted(chosen)), ring.arenas)
    return _with(sentence, f"sites-{ring.arenas}", heap, reasons)


def _lasting(sentence: Sentence, figures: Figures, chosen: Chosen) -> Sentence:
    bytes_ = _bytes(chosen)
    least = min(each.lasting_share for each in chosen.values())
    area = LEAST_AREA
    while area < min(2 * bytes_, MOST_AREA):
        area *= 2
    reasons = {
        "lasting-sites": f"at least {100 * least:.4g} % of the bytes of each of these "
        f"{several(len(chosen), 'call site')} are never freed",
        "lasting-memory": f"their blocks have {bytes_text(bytes_)}, and "
        f"{bytes_text(figures.peak_bytes)} are live at the peak",
    }
    heap = SiteHeap("Lasting", tuple(sorted(chosen)), area)
    return _with(sentence, "sites-lasting", heap, reasons)


def _both(lasting: Sentence, brief: Sentence) -> Sentence:
    (heap,) = brief.sites
    added = {slot: why for slot, why in brief.reasons.items() if slot.startswith("brief-")}
    return _with(lasting, f"{heap.units}", heap, added)


def _with(sentence: Sentence, name: str, heap: SiteHeap, reasons: Mapping[str, str]) -> Sentence:
    return replace(
        sentence,
        name=f"{sentence.name}-{name}",
        sites=(*sentence.sites, heap),
        reasons={**sentence.reasons, **reasons},
    )
