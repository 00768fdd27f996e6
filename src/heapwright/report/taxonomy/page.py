# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The taxonomy as one page: the table beside the published ticks, and the curves behind it.

The page needs nothing but itself: Vega is inside of it, taken from vl-convert, so it can be kept,
sent and opened without a network. It is read on a telephone, too: tables scroll by themselves,
charts are as wide as there is room.
"""

import json
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

from heapwright.artefacts.taxonomy import Column, Row, Taxonomy
from heapwright.report.taxonomy import charts
from heapwright.report.taxonomy.table import failures_told
from heapwright.report.taxonomy.words import (
    NOTHING,
    blowup_text,
    figure,
    interval,
    published_ticks,
    sharing_text,
    tick,
)

STYLE = Path(__file__).with_name("page.css")
SCRIPT = Path(__file__).with_name("page.js")
COLUMNS: tuple[Column, ...] = ("fast", "scalable", "avoids false sharing", "blowup")


def page(document: Taxonomy) -> str:
    """The whole page."""
    specs: dict[str, charts.Spec] = {}
    body = [
        _head(document),
        _ticks(document.rows),
        _differences(document.rows),
        _growth(document, specs),
        _speed(document, specs),
        _scaling(document, specs),
        _sharing(document.rows),
        _design(document.rows),
        _remarks(document),
    ]
    return _frame("\n".join(body), specs)


def specs_of(document: Taxonomy) -> dict[str, charts.Spec]:
    """The charts of the page by their names, without the page."""
    specs: dict[str, charts.Spec] = {}
    for section in (_growth, _speed, _scaling):
        section(document, specs)
    return specs


def _frame(body: str, specs: dict[str, charts.Spec]) -> str:
    import vl_convert  # noqa: PLC0415 (it takes a while to load, and only pages need it)

    data = json.dumps(specs, separators=(",", ":")).replace("</", "<\\/")
    library = vl_convert.javascript_bundle(SCRIPT.read_text(encoding="utf-8"))
    library = library.replace("</script", "<\\/script")
    style = STYLE.read_text(encoding="utf-8")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Allocator taxonomy</title>\n<style>\n{style}</style>\n</head>\n<body>\n{body}\n"
        f'<script type="application/json" id="charts">{data}</script>\n'
        f"<script>{library}</script>\n</body>\n</html>\n"
    )


def _head(document: Taxonomy) -> str:
    machine, plan = document.environment, document.plan
    facts = (
        f"{machine.cpu}, {machine.cpus} processor{'s' if machine.cpus > 1 else ''}, "
        f"{machine.distribution}, {machine.date[:10]}. {plan.done} of {plan.planned} runs, seed "
        f"{plan.seed}; stopped: {plan.stopped_because}."
    )
    return f"<h1>What kind of allocator?</h1>\n<p class=dim>{escape(facts)}</p>"


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]], name: str = "") -> str:
    """Cells are HTML already."""
    head = "".join(f"<th>{escape(text)}</th>" for text in headings)
    lines = "\n".join(
        f"<tr><th scope=row>{row[0]}</th>{''.join(f'<td>{cell}</td>' for cell in row[1:])}</tr>"
        for row in rows
    )
    return (
        f'<div class="scroll"><table class="{name}"><thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{lines}\n</tbody></table></div>"
    )


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
        _table(
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
    specs: dict[str, charts.Spec],
    made: dict[str, charts.Spec],
    prefix: str,
    caption: Callable[[str], str],
) -> str:
    """Small charts side by side, each under the allocator's name."""
    cells = []
    for name, spec in made.items():
        key = f"{prefix}/{name}"
        specs[key] = spec
        cells.append(
            f"<figure><figcaption><b>{escape(name)}</b> {escape(caption(name))}</figcaption>"
            f'<div class="chart" data-chart="{escape(key, quote=True)}"></div></figure>'
        )
    if not cells:
        return "<p>No run tells.</p>"
    return '<div class="grid">' + "\n".join(cells) + "</div>"


def _growth(document: Taxonomy, specs: dict[str, charts.Spec]) -> str:
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
            '<p><span class="key none">none</span> <span class="key linear">O(P)</span> '
            '<span class="key unbounded">unbounded</span> <span class="key">not judged</span></p>',
            "<h3>Memory against time</h3>",
            "<p>One thread allocates, another frees; never more than 1 MiB is live. The figure is "
            "how many bytes memory grows by for each byte allocated, late in the run; above "
            f"{limits.unbounded:g} it grows without bound.</p>",
            _grid(specs, charts.over_time(document.rows), "time", lost),
            "<h3>Memory against threads</h3>",
            "<p>Each thread in turn allocates what the next one frees; never more than 8 MiB is "
            "live. The figure is what each further thread takes, in those 8 MiB; above "
            f"{limits.linear:g} it is O(P).</p>",
            _grid(specs, charts.over_threads(document.rows), "threads", per_thread),
        )
    )


def _single(specs: dict[str, charts.Spec], name: str, spec: charts.Spec | None) -> str:
    if spec is None:
        return "<p>No run tells.</p>"
    specs[name] = spec
    return f'<div class="chart wide" data-chart="{name}"></div>'


def _speed(document: Taxonomy, specs: dict[str, charts.Spec]) -> str:
    return "\n".join(
        (
            "<h2>Fast</h2>",
            "<p>One thread, against a pointer that moves: time with its interval (●) and "
            "instructions (◇). Dashed: the most that counts as fast.</p>",
            _single(specs, "speed", charts.speed(document.rows, document.criteria)),
        )
    )


def _scaling(document: Taxonomy, specs: dict[str, charts.Spec]) -> str:
    keys = dict(charts.KINDS.values())
    legend = " ".join(
        f'<span class="key" style="--c:{colour}">{escape(name)}</span>'
        for name, colour in keys.items()
    )
    rows = {row.allocator: row for row in document.rows}

    def how(name: str) -> str:
        by = rows[name].scaling.counted_by
        return "counts itself" if by == "library" else "under valgrind"

    return "\n".join(
        (
            "<h2>Scalable</h2>",
            "<p>Speedup up to this machine's processors. Dashed: the least that counts as "
            "scalable.</p>",
            _single(specs, "speedup", charts.speedup(document)),
            "<h3>What threads do to each other</h3>",
            f"<p>{legend}</p>",
            _grid(specs, charts.counts(document.rows), "counts", how),
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
        + _table(("allocator", *workloads), [cells(row) for row in rows], "figures")
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
    return "<h2>Design</h2>\n" + _table(headings, [cells(row) for row in rows], "design")


def _remarks(document: Taxonomy) -> str:
    lines = list(failures_told(document.rows))
    lines += document.notes
    if not lines:
        return ""
    items = "\n".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<h2>Notes</h2>\n<ul>{items}</ul>"
