# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The taxonomy as one page: the table beside the published ticks, and the curves behind it.

What it has in common with other pages is in `report/pages`.
"""

from collections.abc import Callable, Sequence
from html import escape

from heapwright.artefacts.taxonomy.document import Column, Row, Taxonomy
from heapwright.report.pages.frame import frame
from heapwright.report.pages.parts import Charts, Spec, key, table
from heapwright.report.taxonomy import charts
from heapwright.report.taxonomy.table import failures_told
from heapwright.report.taxonomy.words import (
    BLOWUP,
    NOTHING,
    blowup_text,
    figure,
    interval,
    published_ticks,
    sharing_text,
    tick,
)

UNJUDGED = ("not judged", charts.UNJUDGED)
COLUMNS: tuple[Column, ...] = ("fast", "scalable", "avoids false sharing", "blowup")


def page(document: Taxonomy) -> str:
    """The whole page."""
    drawn = Charts()
    body = [
        _head(document),
        _ticks(document.rows),
        _differences(document.rows),
        _growth(document, drawn),
        _speed(document, drawn),
        _scaling(document, drawn),
        _sharing(document.rows),
        _design(document.rows),
        _remarks(document),
    ]
    return frame("Allocator taxonomy", "\n".join(body), drawn)


def specs_of(document: Taxonomy) -> dict[str, Spec]:
    """The charts of the page by their names, without the page."""
    drawn = Charts()
    for section in (_growth, _speed, _scaling):
        section(document, drawn)
    return drawn.specs


def _head(document: Taxonomy) -> str:
    machine, plan = document.environment, document.plan
    facts = (
        f"{machine.cpu}, {machine.cpus} processor{'s' if machine.cpus > 1 else ''}, "
        f"{machine.distribution}, {machine.date[:10]}. {plan.done} of {plan.planned} runs, seed "
        f"{plan.seed}; stopped: {plan.stopped_because}."
    )
    return f"<h1>What kind of allocator?</h1>\n<p class=dim>{escape(facts)}</p>"


def _ticks(rows: Sequence[Row]) -> str:
    def cells(row: Row) -> list[str]:
        measured = (tick(row.fast), tick(row.scalable), sharing_text(row), blowup_text(row.blowup))
        good = (row.fast, row.scalable, row.avoids_false_sharing, _is_good(row))
        differs = {each.column for each in row.disagreements}
        made = [escape(row.allocator)]
        for column, text, verdict, claim in zip(
            COLUMNS, measured, good, published_ticks(row.published), strict=True
        ):
            kind = "open" if verdict is None else "good" if verdict else "bad"
            mark = " differs" if column in differs else ""
            said = "" if claim == NOTHING else f' <span class="claim">{escape(claim)}</span>'
            made.append(f'<span class="{kind}{mark}">{escape(text)}</span>{said}')
        algorithm = row.published.algorithm if row.published else row.caption
        return [*made, f'<span class="dim">{escape(algorithm)}</span>']

    return (
        table(
            ("allocator", "fast", "scalable", "false sharing", "blowup", "follows"),
            [cells(row) for row in rows],
            "ticks",
        )
        + '<p class="dim">Measured, and in brackets what the literature says of the algorithm. '
        "Underlined: they differ. “?”: the measurement does not say.</p>"
    )


def _is_good(row: Row) -> bool | None:
    return None if row.blowup is None else row.blowup == "none"


def _differences(rows: Sequence[Row]) -> str:
    found = [
        f"<li><b>{escape(row.allocator)}</b>, {escape(each.column)}: measured "
        f"<b>{escape(each.measured)}</b>, published {escape(each.published)}. "
        f"{escape(each.explanation or 'No explanation is known.')}</li>"
        for row in rows
        for each in row.disagreements
    ]
    if not found:
        return ""
    return "<h2>Where the literature says otherwise</h2>\n<ul>" + "\n".join(found) + "</ul>"


def _grid(
    drawn: Charts,
    made: dict[str, Spec],
    prefix: str,
    caption: Callable[[str], str],
) -> str:
    """Small charts side by side, each under the allocator's name."""
    cells = []
    for name, spec in made.items():
        told = caption(name)
        place = drawn.place(f"{prefix}/{name}", spec, f"{name}: {told}", kind="")
        cells.append(
            f"<figure><figcaption><b>{escape(name)}</b> {escape(told)}</figcaption>{place}</figure>"
        )
    if not cells:
        return "<p>No run tells.</p>"
    return '<div class="grid">' + "\n".join(cells) + "</div>"


def _growth(document: Taxonomy, drawn: Charts) -> str:
    rows = {row.allocator: row for row in document.rows}

    def lost(name: str) -> str:
        return interval(rows[name].growth.lost_per_byte)

    def per_thread(name: str) -> str:
        growth = rows[name].growth
        end = f", up to {growth.saturates_at}" if growth.saturates_at else ""
        return interval(growth.per_thread) + end

    limits = document.criteria
    return "\n".join(
        (
            "<h2>Blowup</h2>",
            key([*((text, charts.COLOURS[name]) for name, text in BLOWUP.items()), UNJUDGED]),
            "<h3>Memory against time</h3>",
            "<p>One thread allocates, another frees; never more than 1 MiB is live. The figure is "
            "how many bytes memory grows by for each byte allocated, late in the run; above "
            f"{limits.unbounded:g} it grows without bound.</p>",
            _grid(drawn, charts.over_time(document.rows), "time", lost),
            "<h3>Memory against threads</h3>",
            "<p>Each thread in turn allocates what the next one frees; never more than 8 MiB is "
            "live. The figure is what each further thread takes, in those 8 MiB; above "
            f"{limits.linear:g} it is O(P).</p>",
            _grid(drawn, charts.over_threads(document.rows), "threads", per_thread),
        )
    )


def _single(drawn: Charts, name: str, spec: Spec | None, label: str) -> str:
    return "<p>No run tells.</p>" if spec is None else drawn.place(name, spec, label)


def _speed(document: Taxonomy, drawn: Charts) -> str:
    return "\n".join(
        (
            "<h2>Fast</h2>",
            "<p>One thread, against a pointer that moves: time with its interval (●) and "
            "instructions (◇). Dashed: the most that counts as fast.</p>",
            _single(
                drawn,
                "speed",
                charts.speed(document.rows, document.criteria),
                "Time and instructions per operation, by allocator",
            ),
        )
    )


def _scaling(document: Taxonomy, drawn: Charts) -> str:
    rows = {row.allocator: row for row in document.rows}

    def how(name: str) -> str:
        by = rows[name].scaling.counted_by
        return "counts itself" if by == "library" else "under valgrind"

    return "\n".join(
        (
            "<h2>Scalable</h2>",
            "<p>Speedup up to this machine's processors. Dashed: the least that counts as "
            "scalable.</p>",
            _single(drawn, "speedup", charts.speedup(document), "Speedup, by allocator"),
            "<h3>What threads do to each other</h3>",
            key(list(dict(charts.KINDS.values()).items())),
            _grid(drawn, charts.counts(document.rows), "counts", how),
        )
    )


def _sharing(rows: Sequence[Row]) -> str:
    workloads = list(dict.fromkeys(each.workload for row in rows for each in row.sharing.found))
    if not workloads:
        return "<h2>False sharing</h2><p>No run tells.</p>"

    def cells(row: Row) -> list[str]:
        found = {each.workload: each for each in row.sharing.found}
        made = [escape(row.allocator)]
        for name in workloads:
            each = found.get(name)
            if each is None:
                made.append(NOTHING)
                continue
            rates = [1000 * count / each.operations for count in (each.active, each.passive)]
            kind = "bad" if max(rates) > 1 else "good"
            made.append(f'<span class="{kind}">{" / ".join(map(figure, rates))}</span>')
        return made

    return (
        "<h2>False sharing</h2>\n<p>Allocations that put objects of two threads on one line, per "
        "thousand, actively / passively.</p>"
        + table(("allocator", *workloads), [cells(row) for row in rows], "figures")
    )


def _design(rows: Sequence[Row]) -> str:
    def cells(row: Row) -> list[str]:
        design = row.design
        if design is None:
            return [escape(row.allocator), *([NOTHING] * 6)]
        texts = (
            design.local_memory,
            "yes" if design.splits_and_coalesces else "no",
            "yes" if design.metadata_in_block else "no",
            design.classes_separated,
            design.blowup_prevented_by,
            "its type" if design.source == "composition" else "literature",
        )
        return [escape(row.allocator), *map(escape, texts)]

    headings = (
        "allocator",
        "local memory",
        "splits and coalesces",
        "metadata in block",
        "classes separated",
        "blowup prevented by",
        "known from",
    )
    return "<h2>Design</h2>\n" + table(headings, [cells(row) for row in rows], "design")


def _remarks(document: Taxonomy) -> str:
    lines = list(failures_told(document.rows))
    lines += document.notes
    if not lines:
        return ""
    items = "\n".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<h2>Notes</h2>\n<ul>{items}</ul>"
