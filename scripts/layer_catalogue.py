# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The catalogue of layers as heap.hpp has it, with what the headers say of each.

The code of `heapwright compose` reads the headers, from this tree. It needs only the standard
library, so the build can use it before anything is built.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from heapwright.artefacts.composition.layers import Layer, Toolbox, read_toolbox

INCLUDE = re.compile(r"#include <(?P<header>heapwright/layers/[^>]+)>\s*(?://\s*(?P<note>.*))?")
HEADING = re.compile(r"^// (?P<name>\w+): (?P<meaning>.*)$")


@dataclass(frozen=True)
class Category:
    """A folder of layers, in the order of the catalogue."""

    name: str
    meaning: str
    layers: tuple[Layer, ...]
    notes: dict[str, str]
    """The comment after the include of each header."""


@dataclass(frozen=True)
class Catalogue:
    toolbox: Toolbox
    categories: tuple[Category, ...]

    @property
    def layers(self) -> list[Layer]:
        return [layer for category in self.categories for layer in category.layers]


def read_catalogue(include: Path) -> Catalogue:
    """`include` is the folder that has `heapwright/`."""
    toolbox = read_toolbox(include)
    heads: list[tuple[str, str]] = []
    headers: dict[str, dict[str, str]] = {}
    for line in (include / "heapwright" / "heap.hpp").read_text(encoding="utf-8").splitlines():
        if heading := HEADING.match(line):
            heads.append((heading["name"], heading["meaning"]))
        elif found := INCLUDE.match(line):
            headers.setdefault(heads[-1][0], {})[found["header"]] = found["note"] or ""
    categories = [
        Category(name, meaning, tuple(layers_of(toolbox, headers[name])), headers[name])
        for name, meaning in heads
        if name in headers
    ]
    return Catalogue(toolbox, tuple(categories))


def layers_of(toolbox: Toolbox, headers: dict[str, str]) -> list[Layer]:
    return [
        layer
        for header in headers
        for layer in toolbox.layers.values()
        if layer.header == header and layer.is_heap
    ]
