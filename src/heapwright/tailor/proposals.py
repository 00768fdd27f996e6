# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""From the figures of a program to the sentences that may fit it, each step with its reason.

The choices of this module are heuristics: they limit the search. The replays and the race judge.
"""

from collections.abc import Iterator
from dataclasses import replace

from heapwright.tailor import reasons
from heapwright.tailor.figures import DEPTHS, Figures
from heapwright.tailor.grammar import KIB, MIB, NEVER, Sentence
from heapwright.tailor.size_classes import (
    best_classes,
    block_of,
    blocks_of,
    waste_of,
    with_bounded_gaps,
)

MOST_CLASSES = 64
FEW_WASTE, LITTLE_WASTE = 0.05, 0.005
"""Of the live bytes at the peak: the goals of two sets of classes."""
RARE = 0.001
"""Share of the requests that may have a mapping each."""
LARGE = tuple(1 << power for power in range(13, 21))
"""Limits of large objects, ascending: 8 KiB to 1 MiB."""
ALMOST = 0.99
"""Of the hits of the deepest list: a shorter list that reaches this is deep enough."""
HUGE_FROM = 4 * MIB
"""Live bytes from which huge pages are proposed."""
DISTINCT = 512
"""Blocks beyond this number are rounded before the search for classes."""
LEAST_CACHED = block_of(24)
"""A cache of `lists` writes three words into a freed object."""


def propose(figures: Figures) -> tuple[Sentence, ...]:
    """Every sentence that is worth a compilation, without two of the same code."""
    found = [*_lists(figures), *_fits(figures), *_superblocks(figures), *_caches(figures)]
    return tuple(found)


def large_limit(figures: Figures) -> int:
    """The smallest limit above which requests are rare; the largest if none is."""
    total = figures.allocations
    for limit in LARGE:
        above = sum(count for each, count in figures.counts.items() if each > limit)
        if above <= RARE * total:
            return limit
    return LARGE[-1]


def enough_depth(figures: Figures) -> int:
    """The shortest list that serves almost what the deepest one serves."""
    goal = ALMOST * figures.hits.get(DEPTHS[-1], 0)
    return next((each for each in DEPTHS if figures.hits.get(each, 0) >= goal), DEPTHS[-1])


def chosen_classes(figures: Figures, limit: int, goal: float) -> tuple[tuple[int, ...], float]:
    """The fewest classes whose waste is within the goal, and their waste as a share of the live
    bytes at the peak."""
    exact = _exact(figures, limit)
    blocks = _raised(exact, LEAST_CACHED) if figures.threads > 1 else exact
    if len(blocks) > DISTINCT:
        blocks = _rounded(blocks)
    live = max(1, sum(block * count for block, count in blocks.items()))
    chosen: tuple[int, ...] = ()
    for classes in best_classes(blocks, MOST_CLASSES):
        chosen = classes
        if waste_of(classes, blocks) <= goal * live:
            break
    largest = block_of(limit)
    whole = with_bounded_gaps(chosen, largest)
    return whole, waste_share(figures, whole, limit)


def waste_share(figures: Figures, classes: tuple[int, ...], limit: int) -> float:
    """What the classes waste, as a share of the live blocks at the peak."""
    exact = _exact(figures, limit)
    return waste_of(classes, exact) / max(1, sum(each * exact[each] for each in exact))


def _exact(figures: Figures, limit: int) -> dict[int, int]:
    """The live objects at the peak by their block, for each requested size up to the limit."""
    counts = {each: figures.at_peak.get(each, 0) for each in figures.counts if each <= limit}
    return blocks_of(counts or {1: 1})


def _raised(blocks: dict[int, int], least: int) -> dict[int, int]:
    """The blocks, where each has at least these bytes."""
    found: dict[int, int] = {}
    for block, count in blocks.items():
        found[max(block, least)] = found.get(max(block, least), 0) + count
    return found


def _rounded(blocks: dict[int, int]) -> dict[int, int]:
    """The blocks rounded up to sixteen steps in each doubling."""
    found: dict[int, int] = {}
    for block, count in sorted(blocks.items()):
        step = max(16, 2 ** (block.bit_length() - 5))
        end = (block + step - 1) // step * step
        found[end] = found.get(end, 0) + count
    return found


def _lists(figures: Figures) -> Iterator[Sentence]:
    limit = min(large_limit(figures), 256 * KIB)
    several = figures.threads > 1
    seen: set[tuple[int, ...]] = set()
    for goal in (FEW_WASTE, LITTLE_WASTE):
        classes, waste = chosen_classes(figures, limit, goal)
        if classes in seen:
            continue
        same_number = any(len(each) == len(classes) for each in seen)
        seen.add(classes)
        sentence = Sentence(
            core="lists",
            name=f"lists-{len(classes)}{'-tight' if same_number else ''}",
            large=limit,
            classes=classes,
            chunk=starting_chunk(figures),
            threads=several,
            reasons={
                **reasons.common(figures, limit),
                "classes": reasons.classes(figures, classes, waste, limit),
                "chunk": reasons.chunk(figures),
                "depth": reasons.depth(figures, enough_depth(figures)),
            },
        )
        yield sentence
        if figures.peak_bytes >= HUGE_FROM:
            yield _on_huge_pages(sentence, figures)


def _fits(figures: Figures) -> Iterator[Sentence]:
    if figures.threads > 1:
        return  # one lock for all threads
    limit = max(128 * KIB, large_limit(figures))
    numbers = {next((n for n in (4, 16, 32) if figures.share_up_to(16 * n) >= 0.9), 64), 4}
    for quick in sorted(numbers):
        yield Sentence(
            core="fit",
            name=f"fit-{quick}",
            large=limit,
            quick=quick,
            chunk=128 * KIB if figures.peak_bytes < 8 * MIB else 1 * MIB,
            reasons={
                **reasons.common(figures, limit),
                "quick": reasons.quick(figures, quick),
                "chunk": reasons.chunk(figures),
            },
        )


def _superblocks(figures: Figures) -> Iterator[Sentence]:
    for block in (16 * KIB, 64 * KIB):
        limit = block // 4
        sentence = Sentence(
            core="superblocks",
            name=f"superblocks-{block // KIB}k",
            large=limit,
            block=block,
            threads=figures.threads > 1,
            reasons={
                **reasons.common(figures, limit),
                "block": reasons.block(figures),
            },
        )
        yield sentence
    if figures.peak_bytes >= HUGE_FROM:
        yield _on_huge_pages(sentence, figures)


def _caches(figures: Figures) -> Iterator[Sentence]:
    depth = enough_depth(figures)
    limit = 16 * KIB
    base = Sentence(
        core="owner-caches",
        name=f"caches-{depth}",
        large=limit,
        block=32 * KIB,
        depth=depth,
        threads=figures.threads > 1,
        reasons={
            **reasons.common(figures, limit),
            "depth": reasons.depth(figures, depth),
            "block": reasons.block(figures),
            "purge": reasons.purge(figures, 1000, huge=False),
        },
    )
    yield base
    # Kept memory serves only a later rise.
    kept = replace(
        base,
        name=f"caches-{depth}-{'keep' if figures.rises else '64k'}",
        block=64 * KIB,
        purge_ms=NEVER if figures.rises else base.purge_ms,
    )
    kept = replace(
        kept,
        reasons={**base.reasons, "purge": reasons.purge(figures, kept.purge_ms, huge=False)},
    )
    yield kept
    yield replace(
        base,
        name="caches-8-lean",
        block=16 * KIB,
        large=8 * KIB,
        depth=8,
        purge_ms=0,
        reasons={
            **base.reasons,
            **reasons.common(figures, 8 * KIB),
            "depth": reasons.depth(figures, 8),
            "purge": reasons.purge(figures, 0, huge=False),
        },
    )
    if figures.peak_bytes >= HUGE_FROM:
        yield _on_huge_pages(replace(kept, name=f"caches-{depth}"), figures)


def _on_huge_pages(sentence: Sentence, figures: Figures) -> Sentence:
    return replace(with_pages(sentence, figures, huge=True), name=f"{sentence.name}-huge")


def with_pages(sentence: Sentence, figures: Figures, *, huge: bool) -> Sentence:
    """The same on huge pages, or on pages of 4 KiB."""
    pages = {"pages": reasons.huge_pages(figures)} if huge else {}
    if sentence.core == "owner-caches":  # one step decides both
        pages = {"purge": reasons.purge(figures, sentence.purge_ms, huge=huge)}
    kept = {slot: why for slot, why in sentence.reasons.items() if slot != "pages"}
    return replace(
        sentence,
        chunk=2 * MIB if huge else starting_chunk(figures),
        huge_pages=huge,
        reasons={**kept, **pages},
    )


def starting_chunk(figures: Figures) -> int:
    """A small part of the peak, from 64 KiB to 1 MiB."""
    chunk = 64 * KIB
    while chunk < 1 * MIB and 32 * chunk < figures.peak_bytes:
        chunk *= 2
    return chunk
