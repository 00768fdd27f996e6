# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The grid of a search: settings with their levels. A cell has one level of each setting."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from heapwright.artefacts.comparison.document import Key

Cell = tuple[int, ...]
"""The place of one level for each setting, in the order of the space."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The figures of one good run, both above 0."""

    objective: float
    """The figure that is made small."""
    other: float | None = None
    """The figure under the cap; None: it was not measured."""


@dataclass(frozen=True, slots=True)
class Factor:
    """A setting, as the search has it: the first level is low, the last is high."""

    name: str
    levels: tuple[str, ...]
    default: int
    """The place of the level that leaves the setting out."""
    finer: tuple[tuple[str, int], ...] = ()
    """Levels outside of the grid, each with the place of the level that it is near. Their own
    places follow those of the grid."""

    @property
    def low(self) -> int:
        return 0

    @property
    def high(self) -> int:
        return len(self.levels) - 1

    @property
    def centre(self) -> int:
        """The middle level. Two levels have none, so the default stands for it."""
        return self.default if len(self.levels) == 2 else len(self.levels) // 2

    @property
    def places(self) -> range:
        """Of all levels, those outside of the grid too."""
        return range(len(self.levels) + len(self.finer))

    def text(self, level: int) -> str:
        return (*self.levels, *(text for text, _ in self.finer))[level]

    def code(self, level: int) -> float:
        """A level on the scale from -1 to 1. One outside of the grid has that of its neighbour."""
        if level > self.high:
            level = self.finer[level - len(self.levels)][1]
        return 2 * level / self.high - 1


@dataclass(frozen=True, slots=True)
class Space:
    """All settings of a search."""

    factors: tuple[Factor, ...]

    def __post_init__(self) -> None:
        if not self.factors:
            raise ValueError("a search needs a setting")

    @property
    def default(self) -> Cell:
        """No setting is given."""
        return tuple(factor.default for factor in self.factors)

    @property
    def centre(self) -> Cell:
        return tuple(factor.centre for factor in self.factors)

    @property
    def size(self) -> int:
        """The number of cells of the grid."""
        return math.prod(len(factor.levels) for factor in self.factors)

    def given(self, cell: Cell) -> list[tuple[str, str]]:
        """The settings of a cell that differ from the default, with their levels."""
        return [
            (factor.name, factor.text(level))
            for factor, level in zip(self.factors, cell, strict=True)
            if level != factor.default
        ]

    def label(self, cell: Cell) -> str:
        """The cell in words; empty for the default."""
        return ", ".join(f"{name}={level}" for name, level in self.given(cell))

    def key(self, cell: Cell) -> Key:
        """The cell as a candidate of a race."""
        return ("", self.label(cell))

    def levels(self, cell: Cell) -> tuple[str, ...]:
        """The level of each setting as a text."""
        return tuple(f.text(level) for f, level in zip(self.factors, cell, strict=True))

    def with_level(self, cell: Cell, factor: int, level: int) -> Cell:
        """The cell with another level of one setting."""
        return (*cell[:factor], level, *cell[factor + 1 :])


def fewest_settings(space: Space, cells: Sequence[Cell]) -> Cell:
    """The cell that changes the fewest settings. Of equals, one of the grid, and the first."""

    def outside(cell: Cell) -> bool:
        return any(level > f.high for f, level in zip(space.factors, cell, strict=True))

    return min(cells, key=lambda cell: (len(space.given(cell)), outside(cell)))
