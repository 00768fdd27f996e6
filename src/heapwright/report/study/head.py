# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The top of the page: the result, its certainty, and warnings."""

from collections.abc import Iterator
from html import escape

from heapwright.artefacts.study_analysis.document import Ranking
from heapwright.report.study.units import percent, text_of
from heapwright.report.study.view import Response, StudyView

MOST_NAMED = 12


def head(view: StudyView) -> str:
    """Title, verdict, the figures of the study, warnings."""
    study = view.analysis.study
    scale = f", at the scale {study.scale}" if study.scale else ""
    parts = [
        f"<h1>{escape(study.title or study.name)}</h1>",
        f'<p class="dim">{escape(study.name)}{escape(scale)}</p>',
        '<div class="verdict">',
        f"<p><b>{escape(view.analysis.verdict.text)}</b></p>",
        _orders(view),
        "</div>",
        _tiles(view),
        _warnings(view),
    ]
    return "\n".join(part for part in parts if part)


def _orders(view: StudyView) -> str:
    """One line a response: the best level, those that the runs do not separate from it, and the
    distance of the others."""
    lines = [
        f"<li>{line}</li>"
        for each in view.responses
        if (ranking := each.analysis.ranking()) is not None
        and each.analysis.better != "none"
        and (line := _order(each, ranking))
    ]
    return f"<ul>{''.join(lines)}</ul>" if lines else ""


def _order(response: Response, ranking: Ranking) -> str:
    entries = sorted(ranking.entries, key=lambda each: each.place)
    if not entries:
        return ""
    first = entries[0]
    tied = [each for each in entries[1:] if first.group and set(first.group) & set(each.group)]
    names = ", ".join(escape(each.allocator) for each in [first, *tied])
    rest = [each for each in entries[1:] if each not in tied][:MOST_NAMED]
    text = f"<b>{escape(response.words)}</b>: {names} "
    text += (
        f"({escape(text_of(response.measured, first.mean))})" if not tied else "(not told apart)"
    )
    if rest:
        told = ", ".join(
            f"{escape(each.allocator)} {percent(each.percent_over_best)}"
            if each.percent_over_best is not None
            else f"{escape(each.allocator)} ({escape(text_of(response.measured, each.mean))})"
            for each in rest
        )
        text += f"; then {told}"
    return text + "."


def _tiles(view: StudyView) -> str:
    study = view.analysis.study
    bad = sum(count for name, count in view.analysis.outcomes.items() if name != "ok")
    tiles = [
        ("treatments", f"{study.treatments:,}"),
        ("blocks", f"{study.blocks:,}"),
        ("runs analysed", f"{study.ok:,}"),
        ("discarded as warm-up", f"{study.warmup:,}"),
        ("ended badly", f"{bad:,}"),
        ("machines", f"{max(len(study.hosts), len(view.hosts)):,}"),
    ]
    if study.planned is not None and study.runs < study.planned:
        tiles.insert(3, ("not run yet", f"{study.planned - study.runs:,}"))
    inner = "\n".join(f"<div><dt>{name}</dt><dd>{text}</dd></div>" for name, text in tiles)
    return f'<dl class="tiles">\n{inner}\n</dl>'


def _warnings(view: StudyView) -> str:
    """What has to be known before a figure is believed."""
    lines = list(dict.fromkeys(doubts(view)))
    if not lines:
        return ""
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f'<div class="warning"><p><b>To be known first</b></p><ul>{items}</ul></div>'


def doubts(view: StudyView) -> Iterator[str]:
    study = view.analysis.study
    if study.planned is not None and study.runs < study.planned:
        yield f"The study is not complete: {study.runs:,} of {study.planned:,} runs."
    for each in view.design.dropped:
        yield f"{each.factor} {each.level} was not run: {each.because}"
    yield from view.analysis.notes
    yield from view.notes
    for response in view.responses:
        for note in response.analysis.notes:
            yield f"{response.name}: {note}"
        overall = response.analysis.overall
        if overall is not None:
            for warning in overall.diagnostics.warnings:
                yield f"{response.name}: {warning}"
