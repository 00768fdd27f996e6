# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A sentence with one step undone: what the step is worth is the difference between the two.

Undone, a parameter has the value of a general allocator, such as classes that are powers of two.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from heapwright.artefacts.tailoring.costs import Measured
from heapwright.artefacts.tailoring.folder import Replayed
from heapwright.tailor.grammar import KIB, Sentence, size

GENERAL = Sentence("lists", "general", 128 * KIB)
"""What no trace has changed. Above its limit, glibc maps objects, too."""


@dataclass(frozen=True, slots=True)
class Undone:
    """One step left out."""

    slot: str
    """The slot of the step, as in `Sentence.reasons`."""
    instead: str
    """What takes its place, in words."""
    sentence: Sentence


def undone(sentence: Sentence) -> Iterator[Undone]:
    """The sentence with each fitted step left out in turn. Steps with general values have none."""
    if sentence.huge_pages:
        yield _named(replace(sentence, huge_pages=False), "pages", "pages of 4 KiB")
    if sentence.core in ("lists", "fit"):
        yield from _of_lists_and_fit(sentence)
    else:
        yield from _of_superblocks(sentence)


def _of_lists_and_fit(sentence: Sentence) -> Iterator[Undone]:
    if sentence.classes and sentence.classes != _powers(sentence.large):
        changed = replace(sentence, classes=_powers(sentence.large))
        yield _named(changed, "classes", "powers of two")
    if sentence.large != GENERAL.large:
        classes = _with_limit(sentence.classes, GENERAL.large)
        changed = replace(sentence, large=GENERAL.large, classes=classes)
        yield _named(changed, "large", f"a limit of {size(GENERAL.large)}")
    if sentence.chunk != GENERAL.chunk and not sentence.huge_pages:
        changed = replace(sentence, chunk=GENERAL.chunk)
        yield _named(changed, "chunk", f"chunks of {size(GENERAL.chunk)}")
    if sentence.core == "fit" and sentence.quick != GENERAL.quick:
        changed = replace(sentence, quick=GENERAL.quick)
        yield _named(changed, "quick", f"{GENERAL.quick} quick lists")


def _of_superblocks(sentence: Sentence) -> Iterator[Undone]:
    caches = sentence.core == "owner-caches"
    if sentence.block != GENERAL.block:
        large = 16 * KIB if caches else GENERAL.block // 4
        changed = replace(sentence, block=GENERAL.block, large=large)
        yield _named(changed, "block", f"superblocks of {size(GENERAL.block)}")
    if caches and sentence.depth != GENERAL.depth:
        changed = replace(sentence, depth=GENERAL.depth)
        yield _named(changed, "depth", f"{GENERAL.depth} objects in a cache")
    if caches and sentence.purge_ms != GENERAL.purge_ms:
        changed = replace(sentence, purge_ms=GENERAL.purge_ms)
        yield _named(changed, "purge", "a return of memory after a second")


def with_values(
    sentence: Sentence, whole: Replayed, values: Iterable[tuple[Undone, Replayed]]
) -> Sentence:
    """The sentence whose reasons state what the replays lose without the step."""
    reasons = dict(sentence.reasons)
    for each, replayed in values:
        if text := difference(whole, replayed):
            reason = reasons.get(each.slot, "")
            begin = f"{reason}. With" if reason else "with"
            reasons[each.slot] = f"{begin} {each.instead}, replays have {text}"
    return replace(sentence, reasons=reasons)


def difference(whole: Measured, without: Measured) -> str:
    """Such as "+3.1 % instructions, +0.2 % page faults and -1.0 % peak memory"."""
    pairs: list[tuple[float | None, float | None, str]] = [
        (whole.instructions, without.instructions, "instructions"),
        (whole.faults, without.faults, "page faults"),
        (whole.peak_bytes, without.peak_bytes, "peak memory"),
    ]
    if whole.instructions is None or without.instructions is None:
        pairs[0] = (whole.seconds, without.seconds, "processor time")
    known = [f"{100 * (b / a - 1):+.1f} % {what}" for a, b, what in pairs if a and b is not None]
    return " and ".join(filter(None, (", ".join(known[:-1]), *known[-1:])))


def _named(sentence: Sentence, slot: str, instead: str) -> Undone:
    return Undone(slot, instead, replace(sentence, name=f"{sentence.name}-without-{slot}"))


def _largest(limit: int) -> int:
    """The block of the largest small object."""
    return (limit + 8 + 15) // 16 * 16


def _powers(limit: int) -> tuple[int, ...]:
    largest = _largest(limit)
    found, each = [], 32
    while each < largest:
        found.append(each)
        each *= 2
    return (*found, largest)


def _with_limit(classes: tuple[int, ...], limit: int) -> tuple[int, ...]:
    """The same classes up to another limit; further ones are powers of two."""
    if not classes:
        return ()
    kept = tuple(each for each in classes if each < _largest(limit))
    return (*kept, *(each for each in _powers(limit) if not kept or each > kept[-1]))
