# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The single figures of a profile: what each is called, how it is read and how it is written.

The page, the terminal and the comparison of two profiles show the same figures; this is their list.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from heapwright.artefacts.profile.document import Profile
from heapwright.report.profile import words

Kind = Literal["count", "memory", "share", "duration", "ratio"]

FORMATS: dict[Kind, Callable[[float | None], str]] = {
    "count": words.count,
    "memory": words.memory,
    "share": words.share,
    "duration": words.duration,
    "ratio": words.times,
}


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure: `path` is its place in the document."""

    aspect: str
    name: str
    path: str
    kind: Kind

    def of(self, profile: Profile) -> float | None:
        """Its value; nothing where the profile has none."""
        found: object = profile
        for name in self.path.split("."):
            found = _step(found, name)
        return found if isinstance(found, int | float) else None

    def text(self, value: float | None) -> str:
        return FORMATS[self.kind](value)


def _step(value: object, name: str) -> object:
    return (
        len(value) if name == "length" and isinstance(value, tuple) else getattr(value, name, None)
    )


FIGURES = (
    Figure("total memory", "allocations", "totals.allocations", "count"),
    Figure("total memory", "bytes allocated", "totals.bytes", "memory"),
    Figure("total memory", "mean size", "totals.mean_bytes", "memory"),
    Figure("total memory", "failed requests", "totals.failed", "count"),
    Figure("sizes", "distinct sizes", "sizes.distinct", "count"),
    Figure("sizes", "ten commonest", "sizes.top10_share", "share"),
    Figure("routines", "malloc", "routines.malloc.share", "share"),
    Figure("routines", "calloc", "routines.calloc.share", "share"),
    Figure("routines", "realloc", "routines.realloc.share", "share"),
    Figure("routines", "aligned", "routines.aligned.share", "share"),
    Figure("frees", "frees", "totals.frees", "count"),
    Figure("frees", "of null", "totals.null_free_share", "share"),
    Figure("frees", "never freed", "totals.never_freed", "count"),
    Figure("frees", "never freed, bytes", "totals.never_freed_bytes", "memory"),
    Figure("frees", "of unknown addresses", "totals.unknown_frees", "count"),
    Figure("retention", "temporary", "totals.temporary", "count"),
    Figure("retention", "short: up to 100 ms", "retention.short", "share"),
    Figure("retention", "medium: up to 1 s", "retention.medium", "share"),
    Figure("retention", "long: more, or never freed", "retention.long", "share"),
    Figure("live memory", "peak, bytes", "peak_live_bytes", "memory"),
    Figure("live memory", "peak, objects", "peak_live_objects", "count"),
    Figure("live memory", "usable at the peak", "peak.usable_bytes", "memory"),
    Figure("live memory", "A/U, most over most", "system.a_over_u.peak", "ratio"),
    Figure("live memory", "A/U at the end", "system.a_over_u.at_end", "ratio"),
    Figure("threads", "threads", "threads.length", "count"),
    Figure("threads", "ended by another thread", "cross_thread_frees.count", "count"),
    Figure("threads", "share of the ended", "cross_thread_frees.share", "share"),
    Figure("run", "calls", "provenance.events", "count"),
    Figure("run", "duration", "provenance.duration_s", "duration"),
)
"""In the order of the table of what is reported."""
