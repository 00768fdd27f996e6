# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""How long blocks live, on the page: lifetimes, and how the long-lived ones come about."""

from heapwright.artefacts.profile.document import Profile
from heapwright.report.pages.parts import Charts, Data
from heapwright.report.profile import charts as draw
from heapwright.report.profile import words
from heapwright.report.profile.curves import Series


def lifetimes(series: Series, charts: Charts) -> str:
    told = "; ".join(
        f"{each.name} short (up to 100 ms) {words.share(each.profile.retention.short)}, medium (up "
        f"to 1 s) {words.share(each.profile.retention.medium)}, long "
        f"{words.share(each.profile.retention.long)}, among them never freed "
        f"{words.share(each.profile.retention.never_freed_share)}".strip()
        for each in series
    )
    single = series[0].profile if len(series) == 1 else None
    return f"<p>{words.escaped(told)}.</p>\n" + charts.place(
        "lifetimes",
        draw.lifetimes(series),
        f"Lifetimes: {told}",
        None if single is None else _buckets(single),
    )


def _buckets(profile: Profile) -> Data:
    rows = [
        (words.duration(each.high_s), words.count(each.count), words.memory(each.bytes))
        for each in profile.retention.distribution
    ]
    totals = profile.totals
    never = (draw.NEVER, words.count(totals.never_freed), words.memory(totals.never_freed_bytes))
    return Data(("freed within", "blocks", "bytes"), [*rows, never])


def long_lived(series: Series, charts: Charts) -> str:
    """Their cumulation with its class."""
    told = "; ".join(f"{each.name} {words.pattern_of(each.profile)}".strip() for each in series)
    rules = "".join(
        f"<p>{words.escaped(f'{each.name}: ' if each.name else '')}class "
        f"<b>{words.escaped(words.pattern_of(each.profile))}</b>. "
        f"The rule: {words.escaped(each.profile.pattern.rule)}.</p>\n"
        for each in series
    )
    if not any(made for each in series for _, made in each.profile.pattern.long_lived):
        return rules
    single = series[0].profile if len(series) == 1 else None
    return rules + charts.place(
        "long-lived",
        draw.long_lived(series),
        f"Long-lived allocations made so far, by operation: {told}",
        None if single is None else _cumulation(single),
    )


def _cumulation(profile: Profile) -> Data:
    points = profile.pattern.long_lived
    return Data(
        ("operation", "long-lived so far"),
        [
            (words.count(points[at][0]), words.count(points[at][1]))
            for at in draw.thinned(len(points), 30)
        ],
    )
