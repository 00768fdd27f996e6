# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Why a step has its parameter, in words, from the figures of a program.

Each text becomes a part of the caption of a step. A text has no final stop.
"""

from heapwright.base.quantities import several
from heapwright.base.quantities import size as bytes_text
from heapwright.tailor.figures import DEPTHS, Figures
from heapwright.tailor.grammar import NEVER, size

_PURGES = {0: "at once", 1000: "after a second without use", NEVER: "never"}
"""By the delay in ms after which free memory returns."""


def common(figures: Figures, limit: int) -> dict[str, str]:
    """Of the slots that all kinds have, for this limit of large objects in bytes."""
    above = figures.bytes_above(limit)
    share = 1 - figures.share_up_to(limit)
    threads = (
        "one thread allocates, so a lock is never contended"
        if figures.threads <= 1
        else f"{figures.threads} threads allocate, and {percent(_remote_share(figures))} of the "
        "objects are freed by another thread"
    )
    return {
        "large": f"{percent(share)} of the requests are for more than {size(limit)}, and "
        f"{bytes_text(above)} of them are live {_when(figures)}",
        "threads": threads,
        "slots": f"16 bytes apart up to 1 KiB, where {percent(figures.share_up_to(1024))} of the "
        "requests are",
    }


def classes(figures: Figures, sizes: tuple[int, ...], waste: float, limit: int) -> str:
    """`waste` is a share of the live bytes of small objects at the peak."""
    return (
        f"these {len(sizes)} waste {percent(waste)} of the "
        f"{bytes_text(figures.bytes_up_to(limit))} of small objects that are live "
        f"{_when(figures)}. No set with as many ends wastes less, apart from the classes that "
        "bound the gaps"
    )


def chunk(figures: Figures) -> str:
    return f"the peak is {bytes_text(figures.peak_bytes)}"


def quick(figures: Figures, number: int) -> str:
    """Of a number of quick lists."""
    return (
        f"{percent(figures.share_up_to(16 * number))} of the requests are for at most "
        f"{16 * number} bytes, and {percent(figures.freed_share)} of the objects are freed"
    )


def block(figures: Figures) -> str:
    return f"{bytes_text(figures.peak_bytes)} are live at the peak in {len(figures.counts)} sizes"


def depth(figures: Figures, objects: int) -> str:
    """Of a list that holds this number of freed objects."""
    deepest = DEPTHS[-1]
    return (
        f"a list of {objects} freed objects serves {percent(figures.hit_share(objects))} of the "
        f"requests, and one of {deepest} serves {percent(figures.hit_share(deepest))}"
    )


def purge(figures: Figures, delay_ms: int, *, huge: bool) -> str:
    """Of the step that decides when free memory returns, and whether pages are huge."""
    text = f"{_PURGES[delay_ms]}. {_phases(figures)}"
    return f"{text}. Huge pages: {huge_pages(figures)}" if huge else text


def _phases(figures: Figures) -> str:
    if not figures.rises:
        return "The live memory never falls to half of its peak and rises to nine tenths again"
    return (
        "The live memory falls to half of its peak and rises to nine tenths again "
        f"{several(figures.rises, 'time')}"
    )


def huge_pages(figures: Figures) -> str:
    return f"{bytes_text(figures.peak_bytes)} are live, so ordinary pages cost many page faults"


def percent(share: float) -> str:
    """Such as "2.25 %"; a small share has no exponent."""
    number = 100 * share
    return "less than 0.01 %" if 0 < number < 0.01 else f"{number:.3g} %"


def _when(figures: Figures) -> str:
    """The moment of `at_peak`, which has the objects of every input."""
    return "at the peak" if figures.inputs == 1 else "at the peaks, over all inputs"


def _remote_share(figures: Figures) -> float:
    return figures.remote / max(1, figures.frees)
