# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Pages of the layers, the policies and the concepts, from the headers."""

import re
from collections.abc import Iterable
from pathlib import Path

from documentation.comments import head_comment
from documentation.markup import cell, table
from heapwright.artefacts.composition.layers import (
    POLICIES,
    Layer,
    Parameter,
    Toolbox,
    read_toolbox,
)

CATEGORIES = {
    "source": "where memory comes from",
    "carve": "cuts large pieces into objects",
    "reuse": "keeps freed objects for later requests",
    "combine": "chooses between heaps",
    "object": "changes or marks a single object",
    "thread": "serves several threads",
    "region": "frees many objects at once",
    "observe": "counts, limits or checks requests",
    "kernel": "the object allocators of Linux",
}


def layer_pages(include: Path) -> dict[str, str]:
    """A page for each category of layers, one for policies, one for concepts, and an index."""
    toolbox = read_toolbox(include)
    pages: dict[str, str] = {}
    rows = []
    for category, meaning in CATEGORIES.items():
        layers = [each for each in toolbox.layers.values() if _is_layer(each, category)]
        pages[f"reference/layers/{category}.md"] = (
            f"# Layers: {category}\n\nA layer of this category {meaning}.\n\n"
            if category not in ("source", "kernel")
            else f"# Layers: {category}\n\n{meaning[0].upper()}{meaning[1:]}.\n\n"
        ) + "\n".join(_layer(each, include) for each in layers)
        rows += [
            (f"[{each.name}]({category}.md#{each.name.lower()})", category, cell(each.caption))
            for each in layers
        ]
    used = _used(toolbox, include)
    policies = [each for each in toolbox.layers.values() if _is_policy(each, used)]
    pages["reference/layers/policies.md"] = (
        "# Policies of layers\n\nA policy is a type that a layer takes as a parameter, "
        "but it is no heap.\n\n" + "\n".join(_layer(each, include) for each in policies)
    )
    pages["reference/layers/concepts.md"] = _concepts(toolbox)
    pages["reference/layers/README.md"] = (
        "# Layers\n\nAll layers, from their headers. A composition is a list of them, memory "
        "source first. See also the [policies](policies.md) and the [concepts](concepts.md).\n\n"
        + table(("layer", "category", "what it does"), rows)
    )
    return pages


def _is_layer(layer: Layer, category: str) -> bool:
    return layer.is_heap and layer.header.startswith(f"heapwright/layers/{category}/")


def _is_policy(layer: Layer, used: set[str]) -> bool:
    """Whether compositions or the examples of layers name it; the rest is inside of layers."""
    return not layer.is_heap and layer.header.split("/")[1] in POLICIES and layer.name in used


def _used(toolbox: Toolbox, include: Path) -> set[str]:
    """All names in compositions and in the examples of layers."""
    texts = [path.read_text("utf-8") for path in (include / "heapwright/allocators").glob("*.hpp")]
    texts += [str(each.example) for each in toolbox.layers.values() if each.example]
    return set(re.findall(r"\w+", "\n".join(texts)))


def _layer(layer: Layer, include: Path) -> str:
    shown = f"`{layer.signature}`"
    said = f": {layer.caption}" if layer.caption else ""
    requires = f"\nRequires `{layer.requires}`.\n" if layer.requires else ""
    comment = head_comment((include / layer.header).read_text("utf-8"))
    return (
        f"## {layer.name}\n\n{shown}{said}.\n\n{comment}\n"
        f"{_parameters(layer.parameters)}{requires}\n"
        f"Header: [`{layer.header}`](../../sources/include/{layer.header}.txt)\n"
    )


def _parameters(parameters: Iterable[Parameter]) -> str:
    rows = [
        (f"`{each.name}`", _kind(each), "heap" if each.is_heap else "policy or value")
        for each in parameters
    ]
    return table(("parameter", "must be", "role"), rows)


def _kind(parameter: Parameter) -> str:
    if parameter.concept:
        return f"[`{parameter.concept}`](concepts.md)"
    return f"`{cell(parameter.kind)}`"


def _concepts(toolbox: Toolbox) -> str:
    rows = (
        (
            f"`{name}`",
            cell(each.meaning),
            ", ".join(f"`{verb}`" for verb in each.verbs),
        )
        for name, each in sorted(toolbox.concepts.items())
    )
    return (
        "# Concepts\n\nA layer states with concepts what it needs from the heap below. The column "
        "*verbs* has what a concept demands itself.\n\n"
        + table(("concept", "meaning", "verbs"), rows)
    )
