# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Figures of drag in words: ratios, sites, and notes on a run."""

import signal
from collections.abc import Iterator, Sequence

from heapwright.artefacts.drag.document import Drag, Site
from heapwright.artefacts.profile.library_frames import own_frames
from heapwright.base.quantities import several
from heapwright.report.profile.words import NOTHING, memory

PUBLISHED = (("lcc", 3.34), ("mudlle", 1.23), ("176.gcc", 1.16))
"""Total drag of programs with regions, as published (Berger, Zorn and McKinley, 2002)."""

REGIONS = (
    *("heapwright::", "heapwright_region_", "heapwright_reap_", "heapwright_obstack_"),
    *("_obstack_", "obstack_", "apr_p", "apr_allocator_", "apr_bucket_alloc", "Perl_safesys"),
)
"""Prefixes of functions that forward a request to a region or a pool."""
LONG = 60


def ratio(value: float | None) -> str:
    """`1.16`, `3.34`, `500`: as many digits as tell a tenth of what is over 1."""
    if value is None:
        return NOTHING
    return f"{value:.3f}" if value < 1.1 else f"{value:.2f}" if value < 100 else f"{value:,.1f}"


def increase(value: float | None) -> str:
    """What a ratio adds, in per cent."""
    return NOTHING if value is None else f"+{100 * (value - 1):,.1f} %"


def command_of(found: Drag) -> str:
    return " ".join(found.provenance.command)


def sentence(found: Drag) -> str:
    """All of it in one line."""
    if found.total_drag is None:
        return "total drag unknown: it allocated nothing"
    return (
        f"total drag {ratio(found.total_drag)}, peak {increase(found.peak_increase)} "
        f"({memory(found.peak_held.bytes)} held, {memory(found.peak_needed.bytes)} needed), "
        f"over {memory(found.allocated_bytes)} in {several(found.objects, 'allocation')}"
    )


def place_of(frames: Sequence[str]) -> str:
    """The function of the program that made the request, without functions that only forward it."""
    return next(iter(_own(frames)), frames[0] if frames else "unknown")


def chain_of(frames: Sequence[str], callers: int = 3) -> str:
    """That function and the functions of the program that called it, outwards."""
    return " ← ".join(map(short, _own(frames)[: callers + 1] or (place_of(frames),)))


def _own(frames: Sequence[str]) -> tuple[str, ...]:
    return tuple(each for each in own_frames(frames) if not each.startswith(REGIONS))


def short(frame: str) -> str:
    """A long name without the text in its angle brackets."""
    if len(frame) <= LONG or frame.count("<") != frame.count(">"):
        return frame
    kept: list[str] = []
    depth = 0
    for letter in frame:
        depth -= letter == ">"
        if depth < 0:  # they are no brackets
            return frame
        if depth == 0:
            kept.append(letter)
        if letter == "<":
            kept += "…" if depth == 0 else ""
            depth += 1
    return "".join(kept)


def dragging(found: Drag) -> list[Site]:
    """The sites that have any drag."""
    return [site for site in found.sites if site.drag_area]


def endings(found: Drag) -> Iterator[str]:
    """How it ended, if it did not end normally."""
    origin = found.provenance
    if origin.interrupted:
        yield "it was ended early; the figures are those until then"
    elif origin.signal is not None:
        yield f"it was ended by {_signal(origin.signal)}"
    elif origin.exit_status:
        yield f"it left with status {origin.exit_status}"
    if origin.replaced:
        yield "it became another program by exec, which was not watched"


def remarks(found: Drag) -> Iterator[str]:
    """The reasons why the figures do not cover all of the command."""
    origin, odd = found.provenance, found.oddities
    yield from endings(found)
    if origin.children:
        were = "was" if origin.children == 1 else "were"
        yield (
            f"{several(origin.children, 'process', 'processes')} that it started {were} not watched"
        )
    if found.unseen.objects:
        yield (
            f"{several(found.unseen.objects, 'object')} of {memory(found.unseen.bytes)} are of "
            "code that was not rebuilt; they count as needed until they were freed"
        )
    if odd.unknown_frees:
        yield f"{several(odd.unknown_frees, 'free')} of what was not live"
    if odd.overwritten:
        yield f"of {several(odd.overwritten, 'object')} the free was not seen"
    if odd.unplaced or odd.misread_lines:
        yield "some observed events were inconsistent, so the figures are not exact"


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
