# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A profile as one page: figures first, then what was never freed, then each aspect.

Data that a trace lacks (the system's view, stacks) has no section. A sentence reports what a
program does not do, for example hand blocks to other threads.
"""

from html import escape
from pathlib import Path

from heapwright.artefacts.profile.document import Profile
from heapwright.report.flame import component
from heapwright.report.pages.frame import frame
from heapwright.report.pages.parts import Charts, contents, section, table
from heapwright.report.profile import heap_map, moment_tables, sites, words
from heapwright.report.profile.charts import alone
from heapwright.report.profile.figures import FIGURES
from heapwright.report.profile.lifetimes import lifetimes, long_lived
from heapwright.report.profile.memory import address_space, live_memory, system
from heapwright.report.profile.missing_data import remarks
from heapwright.report.profile.requests import routines, sizes
from heapwright.report.profile.threads import threads

STYLE = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
Section = tuple[str, str, str]


def page(profile: Profile) -> str:
    """The whole page."""
    charts = Charts()
    parts = [part for part in sections(profile, charts) if part[2]]
    body = "\n".join(
        (
            head(profile),
            contents([(name, heading) for name, heading, _ in parts]),
            *(section(name, heading, inner) for name, heading, inner in parts),
        )
    )
    title = f"Profile of {words.command_of(profile)}"
    return frame(
        title,
        body,
        charts,
        styles=(STYLE, heap_map.STYLE, component.STYLE),
        scripts=(heap_map.SCRIPT, component.SCRIPT),
    )


def sections(profile: Profile, charts: Charts) -> list[Section]:
    """Name, heading and HTML of each part; empty where the trace holds nothing for it."""
    series = alone(profile)
    return [
        ("leaks", "Never freed", sites.never_freed(profile)),
        ("memory", "Live memory over time", live_memory(series, charts)),
        ("sites", "Call sites that request memory", sites.who_asks(profile)),
        ("peak", "Live at the peak", sites.at_peak(profile)),
        ("moments", "Live at the chosen moments", moment_tables.moments(profile)),
        ("pins", "Sites that pin pages", moment_tables.pins(profile)),
        ("temporary", "Temporary allocations", moment_tables.temporary(profile)),
        ("sizes", "Sizes", sizes(series, charts)),
        ("routines", "Routines", routines(series, charts)),
        ("lifetimes", "Lifetimes", lifetimes(series, charts)),
        ("long-lived", "Long-lived allocations", long_lived(series, charts)),
        ("threads", "Threads", threads(profile)),
        ("map", "Address space over time", address_space(profile)),
        ("system", "The system's view", system(profile, charts)),
        ("figures", "All figures", figures(profile)),
        ("notes", "What to know of this trace", notes(profile)),
    ]


def head(profile: Profile) -> str:
    """The recorded command, and its main figures."""
    origin, totals = profile.provenance, profile.totals
    facts = [origin.began, f"{words.duration(origin.duration_s)} from the first call to the last"]
    if profile.repetitions > 1:
        facts.append(f"{profile.repetitions} repetitions, the first one shown")
    tiles = (
        ("allocations", words.count(totals.allocations)),
        ("allocated", words.memory(totals.bytes)),
        ("most live at once", words.memory(profile.peak_live_bytes)),
        ("mean size", words.memory(totals.mean_bytes)),
        ("freed within 100 ms", words.share(profile.retention.short)),
        ("never freed", words.memory(totals.never_freed_bytes)),
        ("long-lived pattern", words.pattern_of(profile)),
        ("threads", words.count(len(profile.threads))),
        ("freed by another thread", words.share(profile.cross_thread_frees.share)),
    )
    told = "\n".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(text)}</dd></div>" for name, text in tiles
    )
    return (
        "<h1>What does this program ask of malloc?</h1>\n"
        f'<p class="command">{escape(words.command_of(profile))}</p>\n'
        f'<p class="dim">{escape(". ".join(fact for fact in facts if fact))}.</p>\n'
        f'<dl class="tiles">\n{told}\n</dl>'
    )


def figures(profile: Profile) -> str:
    """Every single figure, with its spread if the characterisation was repeated."""
    spread = {each.figure: each for each in profile.spread}
    rows = []
    for figure in FIGURES:
        value = figure.of(profile)
        if value is None:
            continue
        cells = [escape(figure.name), escape(figure.text(value))]
        if spread:
            found = spread.get(figure.path)
            shown = (found.mean, found.sd, found.least, found.most) if found else (None,) * 4
            cells += [escape(figure.text(each)) for each in shown]
        rows.append([*cells, escape(figure.aspect)])
    more = ("mean", "standard deviation", "least", "most") if spread else ()
    return table(("figure", "value", *more, "aspect"), rows, "figures", "All figures")


def notes(profile: Profile) -> str:
    """Notes on missing and damaged data."""
    lines = remarks(profile)
    if not lines:
        return ""
    return "<ul>" + "\n".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>"
