# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The sentences around a given one: the same core, with one parameter a step lower or higher.

The figures of the program order them by a promise. That is about the share of the time or of the
peak memory that the step can change. It limits the search. The replays and the race judge.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from heapwright.tailor import reasons
from heapwright.tailor.figures import DEPTHS, Figures
from heapwright.tailor.grammar import KIB, MIB, NEVER, Sentence
from heapwright.tailor.header import digest_of
from heapwright.tailor.proposals import (
    HUGE_FROM,
    LARGE,
    LITTLE_WASTE,
    chosen_classes,
    waste_share,
    with_pages,
)
from heapwright.tailor.site_variants import site_variants

MOST_NEIGHBOURS = 6
"""Of one sentence, that are compiled."""
WASTE_STEP = 3
"""Between the goals of waste of two neighbouring sets of classes."""
BLOCKS = tuple(size * KIB for size in (8, 16, 32, 64))
"""Sizes of superblocks. The layers have none larger."""
CACHE_BLOCKS = tuple(each for each in BLOCKS if each >= 16 * KIB)
"""Those that hold the record of a heap of `owner-caches`."""
CHUNKS = tuple(size * KIB for size in (16, 32, 64, 128, 256, 512, 1024, 2048))
QUICK = (4, 16, 32, 64)
PURGES_MS = (0, 1000, NEVER)
PURGE_NAMES = {0: "now", 1000: "1s", NEVER: "never"}
CACHE_LARGE = tuple(size * KIB for size in (8, 16, 32))
"""Limits of large objects of `owner-caches`."""
LISTS_LARGE = tuple(each for each in LARGE if each <= 256 * KIB)
PURGED = 0.05
"""Of the freed bytes: about the share whose pages leave and return."""
CACHED = 128
"""A cache holds at most as many bytes of a class for each object of its depth."""


@dataclass(frozen=True, slots=True)
class Variants:
    """What is tried beside a sentence."""

    replayed: tuple[Sentence, ...]
    """A replay judges them first. The best of them race."""
    raced: tuple[Sentence, ...] = ()
    """They race at once, because a replay does not show what differs, such as call sites."""


@dataclass(frozen=True, slots=True)
class _Neighbour:
    sentence: Sentence
    promise: float


def variants(sentence: Sentence, figures: Figures, tried: Collection[str]) -> Variants:
    """What the refinement tries beside a sentence, without code whose digest is in `tried`.

    Pre: the name of each variant is that of the sentence, "-" and what differs. `derived` needs it.
    """
    sites = site_variants(sentence, figures)
    return Variants(
        replayed=neighbours(sentence, figures, tried),
        raced=tuple(each for each in sites if digest_of(each) not in tried),
    )


def neighbours(
    sentence: Sentence, figures: Figures, tried: Collection[str] = ()
) -> tuple[Sentence, ...]:
    """At most `MOST_NEIGHBOURS`, the most promising first. `tried` has digests of code."""
    found: dict[str, Sentence] = {}
    for each in _around(sentence, figures):
        found.setdefault(digest_of(each), each)
    known = {digest_of(sentence), *tried}
    new = [each for digest, each in found.items() if digest not in known]
    return tuple(new[:MOST_NEIGHBOURS])


def derived(sentences: Iterable[Sentence], name: str, figures: Figures) -> Sentence | None:
    """The sentence of this name that steps lead to from one of these; None: none do."""
    for each in sentences:
        if each.name == name:
            return each
        if name.startswith(f"{each.name}-"):
            further = (*_around(each, figures), *variants(each, figures, ()).raced)
            if (found := derived(further, name, figures)) is not None:
                return found
    return None


def _around(sentence: Sentence, figures: Figures) -> list[Sentence]:
    """All neighbours that change anything for this program, the most promising first."""
    found = [each for steps in _STEPS[sentence.core] for each in steps(sentence, figures)]
    changing = [each for each in found if each.promise > 0]
    ranked = sorted(changing, key=lambda each: (-each.promise, each.sentence.name))
    return [each.sentence for each in ranked]


def _pages(sentence: Sentence, figures: Figures) -> Iterator[_Neighbour]:
    if not sentence.huge_pages and figures.peak_bytes < HUGE_FROM:
        return
    huge = not sentence.huge_pages
    changed = with_pages(sentence, figures, huge=huge)
    name = f"{sentence.name}-pages-{'huge' if huge else '4k'}"
    promise = figures.peak_bytes / (figures.peak_bytes + HUGE_FROM)
    yield _Neighbour(replace(changed, name=name), promise)


def _classes(sentence: Sentence, figures: Figures) -> Iterator[_Neighbour]:
    limit, number = sentence.large, len(sentence.classes)
    waste = waste_share(figures, sentence.classes, limit)
    for goal in (max(WASTE_STEP * waste, LITTLE_WASTE), waste / WASTE_STEP):
        classes, wasted = chosen_classes(figures, limit, goal)
        if len(classes) == number or wasted == waste:
            continue
        why = {"classes": reasons.classes(figures, classes, wasted, limit)}
        changed = _changed(sentence, f"classes-{len(classes)}", why)
        promise = abs(wasted - waste) * _of_peak(figures, figures.bytes_up_to(limit))
        yield _Neighbour(replace(changed, classes=classes), promise)


def _chunks(sentence: Sentence, figures: Figures) -> Iterator[_Neighbour]:
    if sentence.huge_pages:
        return
    for chunk in _beside(CHUNKS, sentence.chunk):
        why = {"chunk": reasons.chunk(figures)}
        changed = _changed(sentence, f"chunk-{_bytes(chunk)}", why)
        unused = abs(chunk - sentence.chunk) / 2  # of the last chunk
        yield _Neighbour(replace(changed, chunk=chunk), _of_peak(figures, unused))


def _lists_limits(sentence: Sentence, figures: Figures) -> Iterator[_Neighbour]:
    waste = max(waste_share(figures, sentence.classes, sentence.large), LITTLE_WASTE)
    for each in _limits(sentence, figures, LISTS_LARGE):
        limit = each.sentence.large
        classes, wasted = chosen_classes(figures, limit, waste)
        why = {
            **each.sentence.reasons,
            "classes": reasons.classes(figures, classes, wasted, limit),
        }
        yield replace(each, sentence=replace(each.sentence, classes=classes, reasons=why))


def _fit_limits(sentence: Sentence, figures: Figures) -> Iterator[_Neighbour]:
    yield from _limits(sentence, figures, LARGE)


def _cache_limits(sentence: Sentence, figures: Figures) -> Iterator[_Neighbour]:
    allowed = tuple(each for each in CACHE_LARGE if 2 * each <= sentence.block)
    yield from _limits(sentence, figures, allowed)


def _limits(sentence: Sentence, figures: Figures, allowed: tuple[int, ...]) -> Iterator[_Neighbour]:
    """Other limits of large objects."""
    for limit in _beside(allowed, sentence.large):
        changed = _changed(sentence, f"large-{_bytes(limit)}", reasons.common(figures, limit))
        requests = figures.share_up_to(limit) - figures.share_up_to(sentence.large)
        live = figures.bytes_above(limit) - figures.bytes_above(sentence.large)
        promise = max(abs(requests), _of_peak(figures, abs(live)))
        yield _Neighbour(replace(changed, large=limit), promise)


def _quick(sentence: Sentence, figures: Figures) -> Iterator[_Neighbour]:
    for quick in _beside(QUICK, sentence.quick):
        why = {"quick": reasons.quick(figures, quick)}
        changed = _changed(sentence, f"quick-{quick}", why)
        requests = figures.share_up_to(16 * quick) - figures.share_up_to(16 * sentence.quick)
        yield _Neighbour(replace(changed, quick=quick), abs(requests))


def _blocks(sentence: Sentence, figures: Figures) -> Iterator[_Neighbour]:
    caches = sentence.core == "owner-caches"
    for block in _beside(CACHE_BLOCKS if caches else BLOCKS, sentence.block):
        large = min(16 * KIB, block // 2) if caches else block // 4
        why = {**reasons.common(figures, large), "block": reasons.block(figures)}
        changed = _changed(sentence, f"block-{_bytes(block)}", why)
        sizes = len({each // 16 for each in figures.counts if each <= large})
        unused = sizes * figures.threads * abs(block - sentence.block) / 2
        promise = _of_peak(figures, unused)
        yield _Neighbour(replace(changed, block=block, large=large), promise)


def _depths(sentence: Sentence, figures: Figures) -> Iterator[_Neighbour]:
    for depth in _beside(DEPTHS, sentence.depth):
        changed = _changed(sentence, f"depth-{depth}", {"depth": reasons.depth(figures, depth)})
        promise = abs(figures.hit_share(depth) - figures.hit_share(sentence.depth))
        if depth < sentence.depth:
            saved = _cached(figures, sentence.depth) - _cached(figures, depth)
            promise = _of_peak(figures, saved)
        yield _Neighbour(replace(changed, depth=depth), promise)


def _purges(sentence: Sentence, figures: Figures) -> Iterator[_Neighbour]:
    for delay in _beside(PURGES_MS, sentence.purge_ms):
        why = {"purge": reasons.purge(figures, delay, huge=sentence.huge_pages)}
        changed = _changed(sentence, f"purge-{PURGE_NAMES[delay]}", why)
        longer = PURGES_MS.index(delay) > PURGES_MS.index(sentence.purge_ms)
        useful = figures.rises > 0 or not longer
        promise = PURGED * figures.freed_share if useful else 0.0
        yield _Neighbour(replace(changed, purge_ms=delay), promise)


_Steps = Callable[[Sentence, Figures], Iterator[_Neighbour]]
_STEPS: dict[str, tuple[_Steps, ...]] = {
    "lists": (_pages, _classes, _chunks, _lists_limits),
    "fit": (_quick, _chunks, _fit_limits),
    "superblocks": (_pages, _blocks),
    "owner-caches": (_pages, _depths, _blocks, _cache_limits, _purges),
}


def _changed(sentence: Sentence, what: str, why: dict[str, str]) -> Sentence:
    """The sentence with the name and the reasons of a neighbour. The parameter is still the old."""
    return replace(sentence, name=f"{sentence.name}-{what}", reasons={**sentence.reasons, **why})


def _beside(values: tuple[int, ...], value: int) -> Iterator[int]:
    """The values before and after this one; none if it is not one of them."""
    if value in values:
        at = values.index(value)
        yield from values[max(0, at - 1) : at]
        yield from values[at + 1 : at + 2]


def _of_peak(figures: Figures, bytes_: float) -> float:
    """A share of the peak, at most 1."""
    return min(1.0, bytes_ / max(1, figures.peak_bytes))


def _cached(figures: Figures, depth: int) -> int:
    """The bytes that caches of this depth hold at most."""
    return figures.threads * sum(
        min(depth, count) * min(size, CACHED) for size, count in figures.counts.items()
    )


def _bytes(number: int) -> str:
    """As a part of a name."""
    return f"{number // MIB}m" if number % MIB == 0 else f"{number // KIB}k"
