# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Prints answers as text. Long lines are folded, never cut off."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from rich.text import Text

from heapwright.artefacts.comparison.document import Comparison
from heapwright.artefacts.run.provenance import Allocator
from heapwright.artefacts.taxonomy.document import Taxonomy
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.compose.conformance import Verdict
from heapwright.report.columns import Columns
from heapwright.report.console import make_console
from heapwright.report.render import print_report
from heapwright.report.svg import draw
from heapwright.report.taxonomy.table import print_table
from heapwright.report.tree import CompositionTree, Layer


@contextmanager
def printing() -> Iterator[None]:
    """A failed write is an error. A reader that closed the pipe is not."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise HeapwrightError(
            f"the result could not be printed: {error.strerror or error}",
            exit_code=ExitCode.NOT_WRITTEN,
        ) from error


@printing()
def print_allocators(allocators: Sequence[Allocator], *, with_paths: bool) -> None:
    """One line an allocator, and below the reasons why some cannot be used."""
    headings = ("allocator", "kind", "version", "preload", "path")
    rows = [
        (each.name, each.kind.value, each.version, preload_text(each), each.path or "")
        for each in allocators
    ]
    shown = len(headings) if with_paths else len(headings) - 1
    console = make_console()
    console.print(Columns(headings[:shown], [row[:shown] for row in rows], left=len(headings)))
    reasons: dict[str, list[str]] = {}
    for each in allocators:
        if each.reason:
            reasons.setdefault(each.reason, []).append(each.name)
    for reason, names in reasons.items():
        console.print(Text(f"{', '.join(names)}: {reason}"))


def preload_text(allocator: Allocator) -> str:
    """The result of the probe."""
    if not allocator.usable:
        return "not usable"
    if not allocator.effective:
        return "not effective"
    return "effective" if allocator.path else "none needed"


@printing()
def print_allocator(allocator: Allocator) -> None:
    """All facts about one allocator, with the tree of its layers if it is a composition."""
    console = make_console()
    facts = {
        "": allocator.caption,
        "kind": allocator.kind.value,
        "version": allocator.version,
        "path": allocator.path or "",
        "sha256": allocator.sha256,
        "sets": " ".join(f"{name}={value}" for name, value in allocator.environment.items()),
        "preload": preload_text(allocator),
        "because": allocator.reason,
    }
    console.print(Text(allocator.name, style="bold"))
    for name, value in facts.items():
        if value:
            console.print(f"  {name + ' ' if name else ''}{value}", soft_wrap=True)
    if allocator.composition is not None:
        console.print()
        console.print(CompositionTree(Layer.model_validate(allocator.composition)))


def as_json_text(value: Allocator | Sequence[Allocator]) -> str:
    """One allocator or a list of them as JSON."""
    if isinstance(value, Allocator):
        return value.model_dump_json(indent=2)
    document = [each.model_dump(mode="json") for each in value]
    return json.dumps(document, indent=2, ensure_ascii=False)


def svg_text(allocator: Allocator) -> str:
    """The layers of an allocator as a picture. Raises HeapwrightError if it has none."""
    if allocator.composition is None:
        why = allocator.reason or "it is not made of layers"
        raise HeapwrightError(f"{allocator.name} cannot be drawn: {why}")
    return draw(allocator.name, allocator.caption, Layer.model_validate(allocator.composition))


@printing()
def print_made(allocator: Allocator, notes: Sequence[str], header: Path, verdict: Verdict) -> None:
    """The result of `compose`."""
    console = make_console()
    console.print(Text(allocator.name, style="bold"))
    skipped = f", {verdict.skipped} skipped" if verdict.skipped else ""
    lines = [
        allocator.caption,
        *notes,
        f"conformance: {verdict.passed} cases passed{skipped}",
        f"header {header}",
        f"library {allocator.path}",
    ]
    for line in filter(None, lines):
        console.print(f"  {line}", soft_wrap=True)
    if allocator.composition is not None:
        console.print()
        console.print(CompositionTree(Layer.model_validate(allocator.composition)))


@printing()
def print_answer(
    comparison: Comparison,
    notes: Sequence[str],
    *,
    quiet: bool,
    stream: TextIO,
    advice: bool = False,
) -> None:
    """The report of a comparison and the notes under it; `quiet` leaves the sentence alone."""
    console = make_console(stream)
    print_report(console, comparison, quiet=quiet, advice=advice)
    if quiet or not notes:
        return
    console.print()
    console.print(Text("Notes", style="bold"))
    for note in notes:
        console.print(Text(f"- {note}"))


@printing()
def print_taxonomy(
    document: Taxonomy, whereabouts: Sequence[str], *, quiet: bool, stream: TextIO
) -> None:
    """The table, what it means, where it differs from the literature; `quiet`: the table alone."""
    console = make_console(stream)
    print_table(console, document, quiet=quiet)
    if not quiet:
        for line in whereabouts:
            console.print(Text(f"- {line}"))
