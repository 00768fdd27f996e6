# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Text in columns for any width: what does not fit becomes short lines, and nothing is ever cut."""

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

GAP = 2


class Columns:
    """A table for Rich; all columns but the first `left` are aligned right."""

    def __init__(
        self, headings: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1
    ) -> None:
        self._headings = headings
        self._rows = rows
        self._left = left

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> RenderResult:
        lines = list(self._whole())
        if max(cell_len(line.plain) for line in lines) <= options.max_width:
            yield from lines
        else:
            yield from self._short()

    def _whole(self) -> Iterator[Text]:
        rows = [self._headings, *self._rows]
        widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
        for number, row in enumerate(rows):
            cells = [
                _padded(cell, width, at_left=place < self._left)
                for place, (cell, width) in enumerate(zip(row, widths, strict=True))
            ]
            style = "bold" if number == 0 else ""
            yield Text((" " * GAP).join(cells).rstrip(), style=style, no_wrap=True)

    def _short(self) -> Iterator[Text]:
        for row in self._rows:
            yield Text(row[0], style="bold", overflow="fold")
            for heading, cell in zip(self._headings[1:], row[1:], strict=True):
                if cell:
                    yield Text(f"  {heading}: {cell}", overflow="fold")


class Entries:
    """Texts under names: the texts are in a column beside the names, or below them."""

    NARROWEST = 30

    def __init__(self, entries: Sequence[tuple[str, str]]) -> None:
        self._entries = entries

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        indent = max((cell_len(name) for name, _ in self._entries), default=0) + GAP
        beside = options.max_width - indent >= self.NARROWEST
        if not beside:
            indent = GAP
        for name, text in self._entries:
            lines = Text(text, overflow="fold").wrap(console, options.max_width - indent)
            first = Text(name, style="bold")
            if beside and text:
                first.append(" " * (indent - cell_len(name)))
                first.append_text(Text(lines[0].plain.rstrip(), style="not bold"))
            yield first
            for line in lines[1 if beside else 0 :]:
                if line.plain:
                    yield Text(" " * indent + line.plain.rstrip())


def _padded(cell: str, width: int, *, at_left: bool) -> str:
    blanks = " " * (width - cell_len(cell))
    return cell + blanks if at_left else blanks + cell
