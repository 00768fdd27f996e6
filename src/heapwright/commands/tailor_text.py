# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Shows a tailored allocator: the figures, the proposals, the race and the answer as text."""

import sys
from collections.abc import Mapping, Sequence
from typing import TextIO

from rich.console import Console
from rich.text import Text

from heapwright.artefacts.tailoring.document import Judgement, Proof, Ratio, Round, Tailoring
from heapwright.base.quantities import several, size
from heapwright.commands.text import printing
from heapwright.report.columns import Columns
from heapwright.report.console import make_console
from heapwright.tailor.figures import Figures
from heapwright.tailor.grammar import Sentence
from heapwright.tailor.judge import beside, change


def announce(text: str, *, quiet: bool) -> None:
    """One line on standard error."""
    if not quiet:
        print(f"heapwright: {text}", file=sys.stderr)  # noqa: T201


@printing()
def print_proposals(figures: Figures, sentences: Sequence[Sentence]) -> None:
    """The figures of the program, and each proposal with its reasons."""
    console = make_console(sys.stdout)
    console.print(Text(_figures_text(figures)))
    for sentence in sentences:
        console.print(Text(f"\n{sentence.name}", style="bold"))
        for step in sentence.steps():
            if reason := sentence.reasons.get(step.slot, ""):
                console.print(Text(f"  {step.type if step.keyword == 'using' else step.name}"))
                console.print(Text(f"    {reason}"))


def _figures_text(figures: Figures) -> str:
    return (
        f"{figures.allocations:,} allocations of {len(figures.counts):,} sizes by "
        f"{several(figures.threads, 'thread')}, {size(figures.peak_bytes)} live at the peak, "
        f"{figures.remote:,} freed by another thread, {figures.reallocs:,} reallocs"
    )


@printing()
def print_tailoring(document: Tailoring, lines: Sequence[str], quiet: bool, stream: TextIO) -> None:
    """The proposals, the race, the judgements and the answer; `quiet`: the answer alone."""
    console = make_console(stream)
    if not quiet:
        _print_search(document, console)
    console.print(Text(document.answer.reason, style="bold"))
    if quiet:
        return
    notes = [f"header: {document.header}", f"library: {document.library}"]
    again = [f"build it again: {document.rebuild}"]
    if document.rebuild_from_trace:
        again.append(f"tailor it again from the trace: {document.rebuild_from_trace}")
    notes = [*notes, *again] if document.header else []
    proofs = [proof_text(each) for each in document.proofs if not each.failed]
    for line in (*document.answer.notes, *proofs, *notes, *lines):
        console.print(Text(f"- {line}"), soft_wrap=True)


def _print_search(document: Tailoring, console: Console) -> None:
    figures = document.figures
    console.print(
        Text(
            f"{figures.allocations:,} allocations of {figures.sizes:,} sizes by "
            f"{several(figures.threads, 'thread')}, "
            f"{size(figures.peak_live_bytes)} live at the peak"
        )
    )
    console.print(Columns(("Proposal", "Replay", "Peak", ""), _replays(document), left=1))
    if document.raced:
        console.print()
        console.print(_race("glibc", document.raced))
    refinement = document.refinement
    for found in refinement.rounds if refinement else ():
        console.print()
        console.print(Text(_round(found)))
        if found.raced:
            console.print(_race(found.beside, found.raced))
    if refinement and refinement.rounds:
        console.print(Text(f"No further round: {refinement.ended}"))
    for each in document.judged:
        for other in each.beside:
            console.print(Text(f"{_input(each)}: {beside(each, other)}"))
    console.print()


def _replays(document: Tailoring) -> list[tuple[str, str, str, str]]:
    return [
        (
            each.name,
            "" if each.seconds is None else f"{each.seconds:.3f} s",
            "" if each.peak_bytes is None else size(each.peak_bytes),
            (each.left and "left") or "finalist",
        )
        for each in document.candidates
    ]


def _race(other: str, raced: Mapping[str, tuple[Ratio | None, Ratio | None]]) -> Columns:
    rows = [(name, _ratio(time), _ratio(memory)) for name, (time, memory) in raced.items()]
    return Columns((f"Race, beside {other}", "Time", "Peak memory"), rows, left=1)


def _round(found: Round) -> str:
    """What was tried, and what became better."""
    names = ", ".join(each.name for each in found.tried)
    better = found.winner if found.winner != found.beside else "none"
    return f"Neighbours of {found.beside}: {names}. Better: {better}"


def proof_text(proof: Proof) -> str:
    """What a proved allocator has passed."""
    what = [
        f"{proof.conformance} conformance cases",
        f"{len(proof.promises)} promised ends of mistakes",
        f"{len(proof.stress)} workloads with threads",
        *(f"the sanitizers {each}" for each in proof.sanitizers),
    ]
    missing = f". Not examined: {'; '.join(proof.missing)}" if proof.missing else ""
    return f"{proof.candidate} passed {', '.join(what)}{missing}"


def _input(judgement: Judgement) -> str:
    return "unseen input" if judgement.unseen else "new runs"


def _ratio(ratio: Ratio | None) -> str:
    return "" if ratio is None else change(ratio)
