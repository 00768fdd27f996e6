# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A search for an allocator as one page.

It has the answer, judgement, race, refinement, front, steps, proof and header.
"""

import shlex
from collections.abc import Iterator
from html import escape

from heapwright.artefacts.tailoring.document import Candidate, Proof, Ratio, Round, Tailoring
from heapwright.base.quantities import size
from heapwright.report.pages.frame import frame
from heapwright.report.pages.parts import Charts, Data, contents, section, table
from heapwright.report.profile.page import STYLE
from heapwright.report.tailor import charts as drawn

CODE = (
    "pre.header { overflow-x: auto; background: var(--panel); padding: .6rem; font-size: .8rem; }"
)
"""The style of the header's text."""


def page(document: Tailoring, header: str = "") -> str:
    """The whole page; `header` is the text of the tailored allocator."""
    charts = Charts()
    parts = [
        ("judgement", "Beside existing allocators", judgement(document)),
        ("race", "The race", race(document, charts)),
        ("refinement", "Neighbours of the winner", refinement(document)),
        ("front", "Time and memory of the proposals", proposals(document, charts)),
        ("steps", "The value of each step", steps(document, charts)),
        ("proof", "Proof", proof(document)),
        ("header", "The allocator", allocator(document, header)),
    ]
    shown = [part for part in parts if part[2]]
    body = "\n".join(
        (
            head(document),
            contents([(name, heading) for name, heading, _ in shown]),
            *(section(name, heading, inner) for name, heading, inner in shown),
        )
    )
    title = f"Tailored for {shlex.join(document.inputs[0])[:60]}"
    return frame(title, body, charts, styles=(STYLE, CODE))


def head(document: Tailoring) -> str:
    """The answer, the program and its figures."""
    figures, environment = document.figures, document.environment
    tiles = [
        ("allocations", f"{figures.allocations:,}"),
        ("sizes", f"{figures.sizes:,}"),
        ("live at the peak", size(figures.peak_live_bytes)),
        ("threads that allocate", f"{figures.threads:,}"),
        ("freed by another thread", f"{figures.remote_frees:,}"),
        ("never freed", f"{figures.never_freed:,}"),
    ]
    shown = "".join(f"<div><dt>{name}</dt><dd>{escape(text)}</dd></div>" for name, text in tiles)
    commands = "".join(
        f'<p class="command">{escape(shlex.join(words))}</p>\n' for words in document.inputs
    )
    notes = "".join(f"<li>{escape(note)}</li>" for note in document.answer.notes)
    return (
        f"<h1>{escape(document.answer.reason)}</h1>\n{commands}"
        f'<p class="dim">{escape(environment.date)}, {escape(environment.cpu)}, '
        f"{escape(document.compiler)}.</p>\n"
        + (f"<ul>{notes}</ul>\n" if notes else "")
        + f'<dl class="tiles">{shown}</dl>\n'
    )


def judgement(document: Tailoring) -> str:
    """The tailored allocator beside existing ones on each judged input."""
    rows = [
        (
            escape(other.allocator),
            escape(shlex.join(each.command)),
            "yes" if each.unseen else "no",
            ratio(other.time),
            ratio(other.memory),
            other.verdict,
        )
        for each in document.judged
        for other in each.beside
    ]
    if not rows:
        return ""
    columns = ("beside", "input", "unseen", "time", "peak memory", "")
    return (
        f"<p>The change from the existing allocator to the tailored one, with "
        f"{document.confidence:.0%} intervals. These runs are no runs of the search.</p>\n"
        + table(columns, rows, "figures", "tailored beside existing allocators")
    )


def race(document: Tailoring, charts: Charts) -> str:
    """The finalists and the existing allocators beside glibc."""
    if not document.raced:
        return ""
    rows = [(name, ratio(time), ratio(memory)) for name, (time, memory) in document.raced.items()]
    data = Data(("allocator", "time", "peak memory"), rows)
    return (
        "<p>Changes from glibc, on the program itself. Lines are intervals. Less is better.</p>\n"
        + charts.place("race", drawn.race(document), "time and memory in the race", data)
    )


def refinement(document: Tailoring) -> str:
    """What was tried beside the winner in each round, and what became better."""
    found = document.refinement
    if found is None:
        return ""
    columns = ("neighbour", "instructions", "faults", "peak", "time", "peak memory", "")
    parts = []
    for number, each in enumerate(found.rounds, 1):
        rows = [(*_neighbour(row), *_raced(each, row.name), _fate(each, row)) for row in each.tried]
        others = [name for name in each.raced if name not in {row.name for row in each.tried}]
        rows += [(escape(name), "", "", "", *_raced(each, name), "") for name in others]
        parts.append(
            f"<p>Round {number}: neighbours of {escape(each.beside)}. Time and peak memory are "
            "those of a race, as changes from it.</p>\n"
            + table(columns, rows, "figures", f"neighbours of {escape(each.beside)}")
        )
    return "\n".join(parts) + f"<p>No further round: {escape(found.ended)}.</p>\n"


def _neighbour(row: Candidate) -> Iterator[str]:
    yield escape(row.name)
    yield "" if row.instructions is None else f"{row.instructions:,}"
    yield "" if row.faults is None else f"{row.faults:,}"
    yield "" if row.peak_bytes is None else escape(size(row.peak_bytes))


def _raced(each: Round, name: str) -> tuple[str, str]:
    time, memory = each.raced.get(name, (None, None))
    return ratio(time), ratio(memory)


def _fate(each: Round, row: Candidate) -> str:
    return "winner" if row.name == each.winner else escape(row.left)


def proposals(document: Tailoring, charts: Charts) -> str:
    """All replays, those of the front joined."""
    measured = [each for each in document.candidates if each.peak_bytes and each.seconds]
    if not measured:
        return ""
    rows = [tuple(_row(each)) for each in document.candidates]
    columns = ("proposal", "time", "instructions", "faults", "peak", "front", "")
    return (
        "<p>Replays of the first input. The line joins the proposals that no other beats in both "
        "figures.</p>\n"
        + charts.place("front", drawn.front(measured), "time and peak memory of the proposals")
        + table(columns, rows, "figures", "replays of the proposals")
    )


def _row(each: Candidate) -> Iterator[str]:
    yield escape(each.name)
    yield "" if each.seconds is None else f"{each.seconds:.3f} s"
    yield "" if each.instructions is None else f"{each.instructions:,}"
    yield "" if each.faults is None else f"{each.faults:,}"
    yield "" if each.peak_bytes is None else escape(size(each.peak_bytes))
    yield "yes" if each.front else ""
    yield escape(each.left)


def steps(document: Tailoring, charts: Charts) -> str:
    """What the replays lose with each step undone."""
    rows = drawn.step_rows(document)
    if not rows:
        return ""
    data = Data(
        ("without the step", "figure", "change"),
        [(str(row["step"]), str(row["figure"]), f"{row['change']:+.1f} %") for row in rows],
    )
    failed = "".join(
        f"<p>Without {escape(each.step)}: {escape(each.why_not)}.</p>\n"
        for each in document.steps
        if each.why_not
    )
    return (
        f"<p>Each step of {escape(document.winner)} is undone in turn, and the trace is replayed. "
        "A bar to the right is what the step saves.</p>\n"
        + charts.place("steps", drawn.steps(rows), "change of replays without each step", data)
        + failed
    )


def proof(document: Tailoring) -> str:
    """The examinations of each candidate that was to win."""
    rows = [
        (
            escape(each.candidate),
            f"{each.conformance}",
            escape(", ".join(each.promises)),
            escape(", ".join(each.stress)),
            escape("; ".join((*each.sanitizers, *each.missing))),
            escape(_end(each)),
        )
        for each in document.proofs
    ]
    columns = ("candidate", "conformance cases", "promises", "stress", "sanitizers", "")
    return table(columns, rows, "places", "examinations") if rows else ""


def _end(proof: Proof) -> str:
    return f"kept out: {'; '.join(proof.failed)}" if proof.failed else "passed"


def allocator(document: Tailoring, header: str) -> str:
    """The text of the header, and how the library is built again."""
    if not header:
        return ""
    commands = "".join(
        f'<p class="command">{escape(each)}</p>\n'
        for each in (document.rebuild, document.rebuild_from_trace)
        if each
    )
    return (
        f"<p>{escape(document.library)}. Commands that build it again, from the header and from "
        f'the trace:</p>\n{commands}<pre class="header" tabindex="0">{escape(header)}</pre>\n'
    )


def ratio(found: Ratio | None) -> str:
    """Such as "-4.1 % (-5.0 to -3.2)"."""
    if found is None:
        return ""
    text = f"{100 * (found.ratio - 1):+.1f} %"
    if found.low is None or found.high is None:
        return text
    return f"{text} ({100 * (found.low - 1):+.1f} to {100 * (found.high - 1):+.1f})"
