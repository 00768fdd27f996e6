# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Write what asks the compiler for every pair of neighbours, and for every layer over the probe.

    pairs.py INCLUDE_FOLDER OUTPUT_FOLDER PARTS

Reads which layers there are from heap.hpp, and how each is made from the `Example` line of its
header; so a new layer is in the tests as soon as it is in the catalogue. In `OUTPUT_FOLDER`:

- `pairs.hpp`: each layer as a template of the heap under it (`Over…`), and each as a heap that
  stands on counted sources (`Under…`);
- `pairs_<n>.cpp`, as many as `PARTS`: the question for every combination;
- `probes.hpp`: each layer over the probe that tells verbs which leak.

Prints the names of the layers that stand on others. Standard library only.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from heapwright.artefacts.expression import Expression
from heapwright.artefacts.layers import Layer, Toolbox, read_toolbox

HEAD = """\
// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Written by cmake/pairs.py.
"""
NAMESPACE = "namespace heapwright::testing {"
# Where memory comes from in the stacks below a pair, if the layers there can stand on it: what the
# sanitizers see each object of.
PREFERRED = "MallocHeap"


@dataclass(frozen=True)
class Over:
    """A layer as a template of one of the heaps under it."""

    layer: str
    alias: str
    text: str
    shown: str


def catalogue(include: Path) -> tuple[Toolbox, list[Layer]]:
    """The layers in the order of heap.hpp. Stops if one has no example that can be read."""
    toolbox = read_toolbox(include)
    text = (include / "heapwright" / "heap.hpp").read_text(encoding="utf-8")
    headers = re.findall(r"#include <(heapwright/layers/[^>]+)>", text)
    layers = [
        layer
        for header in headers
        for layer in toolbox.layers.values()
        if layer.header == header and layer.is_heap
    ]
    mute = [layer.header for layer in layers if layer.example is None]
    if mute:
        raise SystemExit(f"no line `// Example: …` at the head of {', '.join(mute)}")
    return toolbox, layers


def is_source(toolbox: Toolbox, name: str) -> bool:
    layer = toolbox.find(name)
    return layer is not None and layer.is_heap and not layer.heaps and name != "NullHeap"


def counted(toolbox: Toolbox, expression: Expression) -> Expression:
    """The expression with each source under a ledger."""

    def wrap(each: Expression) -> Expression:
        return Expression("Counted", (each,)) if is_source(toolbox, each.name) else each

    return expression.changed(wrap)


def on_parameter(toolbox: Toolbox, expression: Expression) -> Expression:
    """The expression with each source replaced by the parameter `S`."""

    def replace(each: Expression) -> Expression:
        return Expression("S") if is_source(toolbox, each.name) else each

    return expression.changed(replace)


def sources(toolbox: Toolbox, expression: Expression) -> list[Expression]:
    found = [each for each in expression.walk() if is_source(toolbox, each.name)]
    return list(dict.fromkeys(found))


def under(toolbox: Toolbox, layer: Layer) -> str:
    """The layer as a heap to stand on: by its example, over the first source that will do."""
    example = layer.example
    assert example is not None
    found = sources(toolbox, example)
    if not layer.heaps or not found:
        return f"using Under{layer.name} = {counted(toolbox, example)};\n"
    first = "" if len(found) > 1 else f"Counted<{PREFERRED}>, "
    if len(found) > 1:
        return f"using Under{layer.name} = {counted(toolbox, example)};\n"
    return (
        f"template <class S>\nusing On{layer.name} = {on_parameter(toolbox, example)};\n"
        f"using Under{layer.name} = OverFirst<On{layer.name}, {first}Counted<{found[0]}>>;\n"
    )


def overs(toolbox: Toolbox, layer: Layer) -> list[Over]:
    """The layer as a template of each of its heaps, the superheap first."""
    example = layer.example
    assert example is not None
    if len(example.arguments) != len(layer.parameters):
        raise SystemExit(f"the example of {layer.name} has not as many arguments as it has parameters")
    found = []
    for index in reversed(layer.heaps):
        arguments = [counted(toolbox, each) for each in example.arguments]
        arguments[index] = Expression("S")
        shown = [str(each) for each in example.arguments]
        shown[index] = "..."
        alias = f"Over{layer.name}{'' if index == layer.heaps[-1] else index}"
        text = f"template <class S>\nusing {alias} = {Expression(layer.name, tuple(arguments))};\n"
        found.append(Over(layer.name, alias, text, f"{layer.name}<{', '.join(shown)}>"))
    return found


def probe(toolbox: Toolbox, layer: Layer) -> str:
    """The layer over the probe; what else stands under it is as in its example."""
    assert layer.example is not None
    arguments = list(layer.example.arguments)
    arguments[layer.heaps[-1]] = Expression("ProbeHeap")
    return str(Expression(layer.name, tuple(arguments)))


def write(path: Path, text: str) -> None:
    """Leaves a file that is as it should be, so that nothing is compiled anew for it."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def main(include: Path, output: Path, parts: int) -> int:
    toolbox, layers = catalogue(include)
    output.mkdir(parents=True, exist_ok=True)
    standing = [layer for layer in layers if layer.heaps]
    every = [each for layer in standing for each in overs(toolbox, layer)]
    declared = "".join(under(toolbox, layer) for layer in layers)
    declared += "".join(each.text for each in every)
    write(
        output / "pairs.hpp",
        f"{HEAD}#pragma once\n\n#include <heapwright/heap.hpp>\n\n#include <layers/pairs/pair.hpp>\n"
        f"#include <support/counted.hpp>\n\n{NAMESPACE}\n\n{declared}\n}} // namespace\n",
    )
    for part in range(parts):
        asked = "".join(
            f'    addPair<{each.alias}, Under{layer.name}>(pairs, "{each.shown}", "{layer.name}");\n'
            for each in every[part::parts]
            for layer in layers
        )
        write(
            output / f"pairs_{part}.cpp",
            f'{HEAD}#include "pairs.hpp"\n\n{NAMESPACE}\n\nvoid addPairs{part}(std::vector<Pair>& '
            f"pairs);\n\nvoid addPairs{part}(std::vector<Pair>& pairs) {{\n{asked}}}\n\n}} // namespace\n",
        )
    calls = "".join(f"void addPairs{part}(std::vector<Pair>& pairs);\n" for part in range(parts))
    body = "".join(f"    addPairs{part}(pairs);\n" for part in range(parts))
    write(
        output / "all_pairs.cpp",
        f"{HEAD}#include <layers/pairs/pair.hpp>\n\n{NAMESPACE}\n\n{calls}\nstd::vector<Pair> "
        f"allPairs() {{\n    std::vector<Pair> pairs;\n{body}    return pairs;\n}}\n\n}} // namespace\n",
    )
    probes = ",\n    ".join(probe(toolbox, layer) for layer in standing)
    write(
        output / "probes.hpp",
        f"{HEAD}// Includer: declares ProbeHeap.\n#define HEAPWRIGHT_PROBED_LAYERS \\\n    "
        + probes.replace(",\n", ", \\\n")
        + "\n",
    )
    print(*(layer.name for layer in standing), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])))
