# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A composition drawn as its rungs, from the description that a library gives of its own type.

A request enters at the top and falls. Stacked layers have the same depth. The drawing branches only
where a heap chooses between several. The depth is therefore the number of choices, not of layers,
and a tall stack fits a narrow terminal. The caption of a layer is beside it if the whole drawing
fits, else below it.
"""

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

NARROWEST_CAPTION = 16


class Layer(BaseModel):
    """One rung: `{"layer", "policies", "caption", "below"}`, the heaps below it in their order."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    layer: str
    policies: tuple[str, ...] = ()
    caption: str = ""
    below: tuple["Layer", ...] = ()

    @property
    def title(self) -> str:
        return f"{self.layer}<{', '.join(self.policies)}>" if self.policies else self.layer


@dataclass(frozen=True, slots=True)
class _Rung:
    """A drawn line: the branches left of it (first line, further lines) and the layer itself."""

    lead: str
    rest: str
    layer: Layer

    @property
    def head(self) -> str:
        return self.lead + self.layer.title


def _rungs(layer: Layer, lead: str, rest: str) -> Iterator[_Rung]:
    """`layer` and all below it; `rest` is drawn left of every line after the first."""
    below = layer.below
    under = rest + "│ " if len(below) > 1 else rest
    yield _Rung(lead, under, layer)
    if len(below) == 1:
        yield from _rungs(below[0], rest, rest)
        return
    for number, child in enumerate(below):
        last = number == len(below) - 1
        arm, stem = ("└ ", "  ") if last else ("├ ", "│ ")
        yield from _rungs(child, rest + arm, rest + stem)


class CompositionTree:
    """The drawing as something that Rich can print."""

    def __init__(self, top: Layer) -> None:
        self.rungs = list(_rungs(top, "", ""))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        column = max(cell_len(rung.head) for rung in self.rungs) + 2
        widest = max(len(rung.layer.caption) for rung in self.rungs)
        beside = column + widest <= options.max_width
        for rung in self.rungs:
            line = Text(rung.lead, style="dim", overflow="fold")
            line.append(rung.layer.title, style="bold")
            caption = rung.layer.caption
            if beside and caption:
                line.append(" " * (column - cell_len(rung.head)))
                line.append(caption, style="not bold")
            yield _plain_branches(line, options)
            if not beside and caption:
                yield from self._under(rung, options)

    @staticmethod
    def _under(rung: _Rung, options: ConsoleOptions) -> Iterator[Text]:
        """The caption below its layer, folded, the branches going on at its left."""
        lead = f"{rung.rest}  "
        room = max(options.max_width - cell_len(lead), NARROWEST_CAPTION)
        for piece in textwrap.wrap(rung.layer.caption, room):
            yield _plain_branches(Text(lead + piece, style="dim", overflow="fold"), options)


def _plain_branches(line: Text, options: ConsoleOptions) -> Text:
    """Branches in ASCII where the stream's encoding has no others."""
    if not options.ascii_only:
        return line
    swapped = line.copy()
    swapped.plain = line.plain.translate(str.maketrans("│├└", "|++"))
    return swapped
