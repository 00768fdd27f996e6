# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Memory on the page: what is live over time, where it stands, what the system sees of it."""

from heapwright.artefacts.profile.document import Profile
from heapwright.base.quantities import several
from heapwright.report.pages.parts import Charts, Data, beside
from heapwright.report.profile import charts as draw
from heapwright.report.profile import words
from heapwright.report.profile.curves import Series
from heapwright.report.profile.heap_map import heap_map

SHOWN = 40


def live_memory(series: Series, charts: Charts) -> str:
    """Live bytes and live objects; of one profile also its commonest sizes."""
    if not any(each.profile.timeline for each in series):
        return "<p>Nothing was recorded.</p>"
    peaks = "; ".join(
        f"{each.name} {told}".strip() for each in series for told in [_peak(each.profile)]
    )
    single = series[0].profile if len(series) == 1 else None
    parts = [
        f"<p>The most: {words.escaped(peaks)}. The most is the ideal heap: no allocator can do "
        "with less.</p>",
        charts.place(
            "live-memory",
            draw.live_memory(series),
            f"Live memory over time. The most: {peaks}",
            None if single is None else _in_figures(single),
        ),
    ]
    objects = charts.place("live-objects", draw.live_objects(series), "Live objects over time")
    sizes = None if single is None else draw.sizes_over_time(single)
    shown = (
        ""
        if sizes is None
        else "<h3>The five commonest sizes</h3>"
        + charts.place("sizes-over-time", sizes, "Live memory of the five commonest sizes")
    )
    return "\n".join((*parts, beside("<h3>Live objects</h3>" + objects, shown)))


def _peak(profile: Profile) -> str:
    peak = profile.peak
    return (
        f"{words.memory(peak.live_bytes)} in "
        f"{several(peak.live_objects, 'object')} "
        f"at {words.duration(peak.time_s)} of the recording"
    )


def _in_figures(profile: Profile) -> Data:
    shown = [profile.timeline[at] for at in draw.thinned(len(profile.timeline), SHOWN)]
    return Data(
        ("time", "calls", "live", "objects", "usable"),
        [
            (
                words.duration(at.time_s),
                words.count(at.operation),
                words.memory(at.live_bytes),
                words.count(at.live_objects),
                words.memory(at.usable_bytes),
            )
            for at in shown
        ],
    )


def address_space(profile: Profile) -> str:
    """The heap map, or that there is none."""
    drawn = profile.heap_map
    if drawn is None or not drawn.rows or not drawn.times_s:
        return "<p>No block was live, so there is nothing to map.</p>"
    many = len(profile.provenance.processes) > 1
    whose = f" of process {drawn.process} (the one with most calls)" if many else ""
    return (
        f"<p>Addresses{whose}, from low (down) to high (up), time from left to right. A hole had "
        "been in use and is not: memory that the program freed between blocks that it still "
        "has.</p>\n" + heap_map(drawn)
    )


def system(profile: Profile, charts: Charts) -> str:
    """Where resident memory goes, and A/U; nothing where it was not recorded."""
    spec = draw.system(profile)
    if spec is None or profile.system is None:
        return ""
    ratio = profile.system.a_over_u
    told = (
        "A/U, what the allocator had from the system over what was live: "
        f"{words.times(ratio.peak)} at the most, {words.times(ratio.at_end)} at the end."
    )
    resident = charts.place("system", spec, f"Resident memory by what it is for. {told}")
    return f"<p>{words.escaped(told)}</p>\n" + beside(
        "<h3>Resident memory</h3>" + resident, taken_over_live(draw.alone(profile), charts)
    )


def taken_over_live(series: Series, charts: Charts) -> str:
    """A/U over time; nothing where it is not known."""
    spec = draw.taken_over_live(series)
    if spec is None:
        return ""
    return "<h3>A/U over time</h3>" + charts.place("a-over-u", spec, "A/U over time")
