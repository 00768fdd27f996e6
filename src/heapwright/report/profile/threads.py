# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Threads on the page: frees between threads, and the work of each thread.

In the matrix, threads with most frees of or by others have their own rows. The others share one,
because a program may have thousands. The shade of a cell is logarithmic, so a pair with a
thousandth of the largest is visible.
"""

import math
from collections import Counter
from collections.abc import Mapping
from html import escape

from heapwright.artefacts.profile.document import Profile
from heapwright.base.quantities import several
from heapwright.report.pages.parts import Data, in_figures, scrolling
from heapwright.report.profile import words

MOST = 16
OTHERS = "others"
LISTED = 30


def threads(profile: Profile) -> str:
    """The matrix, and below it the threads that allocate most."""
    crossed = profile.cross_thread_frees
    told = (
        f"{several(len(profile.threads), 'thread')}. {crossed.count:,} blocks "
        f"({words.share(crossed.share)} of those that ended) were freed by another thread than "
        "the one that allocated them."
    )
    return (
        (f"<p>{told}</p>\n" if crossed.count else "")
        + hand_overs(profile)
        + in_figures(busiest(profile), "Threads that allocate most")
    )


def matrix(profile: Profile) -> tuple[list[str], Mapping[tuple[str, str], int]]:
    """Threads by name, and blocks by allocating and ending thread."""
    handed: Counter[int] = Counter()
    for maker, ender, blocks in profile.cross_thread_frees.pairs:
        handed[maker] += blocks
        handed[ender] += blocks
    alone = sorted(thread for thread, _ in handed.most_common(MOST))
    names = {thread: str(thread) for thread in alone}
    found: Counter[tuple[str, str]] = Counter()
    for maker, ender, blocks in profile.cross_thread_frees.pairs:
        found[names.get(maker, OTHERS), names.get(ender, OTHERS)] += blocks
    if profile.cross_thread_frees.omitted:
        found[OTHERS, OTHERS] += profile.cross_thread_frees.omitted
    shown = [names[thread] for thread in alone]
    return shown + [OTHERS] * any(OTHERS in pair for pair in found), found


def hand_overs(profile: Profile) -> str:
    """The matrix as HTML, or why there is none."""
    names, found = matrix(profile)
    if not found:
        one = len(profile.threads) == 1
        return "<p>" + ("There is one thread." if one else "Every thread freed its own.") + "</p>"
    most = max(found.values())
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in names)
    lines = "\n".join(
        f'<tr><th scope="row">{escape(maker)}</th>'
        + "".join(
            _cell(found.get((maker, ender), 0), most, own=_own(maker, ender)) for ender in names
        )
        + "</tr>"
        for maker in names
    )
    return scrolling(
        '<table class="matrix"><caption>allocated by (rows), freed by (columns)</caption>'
        f"<thead><tr><td></td>{head}</tr></thead>\n<tbody>\n{lines}\n</tbody></table>",
        "Blocks by allocating and freeing thread",
    )


def _own(maker: str, ender: str) -> bool:
    return maker == ender != OTHERS


def _cell(blocks: int, most: int, *, own: bool) -> str:
    if own:
        return '<td class="own" title="its own are not counted here"></td>'
    if not blocks:
        return '<td class="zero">0</td>'
    depth = 0.15 + 0.85 * math.log1p(blocks) / math.log1p(most)
    strong = " strong" if depth > 0.87 else ""
    return f'<td class="pair{strong}" style="--d:{100 * depth:.0f}%">{short(blocks)}</td>'


def short(value: int) -> str:
    """`12k`: short enough for a cell."""
    for size, unit in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if value >= size:
            return f"{words.digits(value / size)}{unit}"
    return str(value)


def busiest(profile: Profile) -> Data:
    """The threads that allocate most."""
    shown = sorted(profile.threads, key=lambda each: (-each.allocations, each.thread))[:LISTED]
    rows = [
        (
            str(each.thread),
            str(each.process),
            words.count(each.allocations),
            words.memory(each.bytes),
            words.count(each.frees),
            words.count(each.freed_elsewhere),
            words.count(each.freed_of_others),
            words.duration(each.ended_s - each.started_s),
        )
        for each in shown
    ]
    headings = (
        *("thread", "process", "allocations", "bytes", "frees"),
        *("freed by others", "freed of others", "lived"),
    )
    return Data(headings, rows)
