# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Call stacks as a file of DHAT, valgrind's heap profiler, for its viewer `dh_view.html`.

A point has all allocations of one stack. With live memory at the peak and at the end, the file has
the block lifetimes of the format (`bklt`), except two values. Nothing knows the sum of the
lifetimes, so the viewer shows no mean. The most of one stack (`mb`) is the larger of its two known
values, so it is a lower bound. Accesses to the blocks are unknown.

Source: valgrind's `dhat/dh_main.c` and `dh_view.js`.
"""

import json

from heapwright.artefacts.stacks.profile import (
    NO_STACK,
    Amount,
    StackProfile,
    chains,
    stack_of,
)
from heapwright.base.errors import HeapwrightError

VERSION = 2
ROOT = "[root]"
BASES = (
    (Amount.BYTES, Amount.ALLOCATIONS, "Allocated"),
    (Amount.KEPT_BYTES, Amount.KEPT, "In use"),
)
"""What the totals of points can be, and the word of the viewer for it."""
OTHERS = {
    "gb": Amount.AT_PEAK_BYTES,
    "gbk": Amount.AT_PEAK,
    "eb": Amount.KEPT_BYTES,
    "ebk": Amount.KEPT,
}
SHORT_US = 1000


def dhat_of(profile: StackProfile) -> str:
    """The file as JSON. Raises HeapwrightError if the blocks are not counted."""
    base = next((each for each in BASES if {each[0], each[1]} <= profile.known), None)
    if base is None:
        raise HeapwrightError(
            f"a file of {profile.source} does not count blocks, and DHAT's format needs them",
            "use --speedscope, --pprof, --folded or --perfetto",
        )
    size, count, verb = base
    has_lifetimes = set(OTHERS.values()) | {size} <= profile.known
    frames = {ROOT: 0}
    points: dict[tuple[int, ...], dict[str, int]] = {}
    for chain in chains(profile.calls):
        names = [each.in_words for each in stack_of(profile.calls, chain.place)] or [NO_STACK]
        place = tuple(frames.setdefault(name, len(frames)) for name in names)
        found = {"tb": size.of(chain.own), "tbk": count.of(chain.own)}
        if has_lifetimes:
            found |= {name: amount.of(chain.own) for name, amount in OTHERS.items()}
        known = points.setdefault(place, dict.fromkeys(found, 0))
        for name, value in found.items():
            known[name] += value
    document = {
        "dhatFileVersion": VERSION,
        "mode": "heap",
        "verb": verb,
        "bklt": has_lifetimes,
        "bkacc": False,
        "tu": "µs",
        "Mtu": "s",
        "tuth": SHORT_US,
        "cmd": " ".join(profile.command) or profile.source,
        "pid": 0,
        "te": round(profile.duration_s * 1e6),
        "tg": round((profile.peak_s or 0) * 1e6),
        "pps": [{**_most(point), "fs": list(place)} for place, point in points.items()],
        "ftbl": list(frames),
    }
    return json.dumps(document, ensure_ascii=False) + "\n"


def _most(point: dict[str, int]) -> dict[str, int]:
    """The point, with its most bytes where it has live memory."""
    if "gb" not in point:
        return point
    blocks = "gbk" if point["gb"] >= point["eb"] else "ebk"
    return {**point, "mb": max(point["gb"], point["eb"]), "mbk": point[blocks]}
