# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Write what asks the compiler for every pair of neighbours, and for every layer over the probe.

    generate_pairs.py INCLUDE_FOLDER OUTPUT_FOLDER PARTS

Reads the list of layers from heap.hpp, and how each is made from the `Example` line of its header.
So a new layer is in the tests as soon as it is in the catalogue. In `OUTPUT_FOLDER`:

- `pairs.hpp`: each layer as a template of the heap under it (`Over…`), and each as a heap that
  stands on counted sources (`Under…`);
- `pairs_<n>.cpp`, as many as `PARTS`: the question for every combination;
- `verbs.hpp`: a heap that has each verb of a concept, and what asks a layer for each;
- `probes.hpp`: each layer over the probe that tells which verbs leak.

Prints the names of the layers that stand on others. Standard library only.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "scripts"))

from layer_catalogue import Catalogue, read_catalogue
from verbs import Verb, all_verbs

from heapwright.artefacts.composition.expression import Expression
from heapwright.artefacts.composition.layers import Layer, Toolbox

HEAD = """\
// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Written by tests/heaps/layers/generate_pairs.py.
"""
FORWARDING = "Forwarding"
NAMESPACE = "namespace heapwright::testing {"
# Where memory comes from in the stacks below a pair, if the layers there can stand on it: what the
# sanitizers see each object of.
PREFERRED = "MallocHeap"
# The probe for a layer that wants more than verbs of its superheap, as its concept states, or its
# identity.
PROBES = {
    "BlockHeap": "ProbeBlocks",
    "SuspendableHeap": "ProbeAtOnce",
    "OwnerCacheHeap": "ProbeOwnerTags",
    "PageHeap": "ProbeRuns",
    "PagedHeap": "ProbePages",
    "RunHeap": "ProbeRuns",
}
# Verbs whose types are the heap's own, so that one probe cannot stand for all heaps.
UNPROBED = {
    "threadState": "the state is a type of the heap; ProbeAtOnce has one",
    "parent": "the result is the heap's own type, and only one layer has the verb",
    "afterHandler": "the argument is a type of the heap, and only one layer has the verb",
}


@dataclass(frozen=True)
class Over:
    """A layer as a template of one of the heaps under it."""

    layer: str
    alias: str
    text: str
    shown: str


def checked_catalogue(include: Path) -> Catalogue:
    """Stops if a layer has no example that can be read."""
    catalogue = read_catalogue(include)
    mute = [layer.header for layer in catalogue.layers if layer.example is None]
    if mute:
        raise SystemExit(f"no line `// Example: …` at the head of {', '.join(mute)}")
    return catalogue


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
    if not layer.heaps or len(found) != 1:
        return f"using Under{layer.name} = {counted(toolbox, example)};\n"
    return (
        f"template <class S>\nusing On{layer.name} = {on_parameter(toolbox, example)};\n"
        f"using Under{layer.name} = OverFirst<On{layer.name}, Counted<{PREFERRED}>, "
        f"Counted<{found[0]}>>;\n"
    )


def overs(toolbox: Toolbox, layer: Layer) -> list[Over]:
    """The layer as a template of each of its heaps, the superheap first."""
    example = layer.example
    assert example is not None
    if len(example.arguments) != len(layer.parameters):
        raise SystemExit(
            f"the example of {layer.name} has not as many arguments as it has parameters"
        )
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


def probe(layer: Layer) -> str:
    """The layer over the probe; what else stands under it is as in its example."""
    assert layer.example is not None
    arguments = list(layer.example.arguments)
    concept = layer.parameters[layer.heaps[-1]].concept
    wanted = PROBES.get(layer.name) or PROBES.get(concept, "ProbeHeap")
    arguments[layer.heaps[-1]] = Expression(wanted)
    return str(Expression(layer.name, tuple(arguments)))


def probed_verbs(include: Path) -> dict[str, Verb]:
    """The verbs that a probe can have, each under a name of its own: overloads are numbered."""
    verbs = all_verbs(include)
    own = {verb.name for verb in verbs if verb.depends_on_heap}
    if own != set(UNPROBED):
        raise SystemExit(f"UNPROBED and the concepts differ in {', '.join(own ^ set(UNPROBED))}")
    found: dict[str, Verb] = {}
    for verb in verbs:
        if not verb.depends_on_heap:
            same = sum(each.name == verb.name for each in found.values())
            found[f"{verb.name}{same + 1 if same else ''}"] = verb
    return found


def stub(verb: Verb) -> str:
    """A member that notes that it was called, and returns nothing of use."""
    types = ", ".join(each.replace("(*)", "(* /*unnamed*/)") for each in verb.types)
    result = f"static {verb.result.removesuffix('&').strip()} none;\n        return none;"
    if not verb.result.endswith("&"):
        result = "" if verb.result == "void" else f"return {verb.result}();"
        result = result.replace("*()", "*{}") if "*" in result else result
    if "*" in verb.result:
        result = "return nullptr;"
    body = f'        note("{verb.name}");\n' + (f"        {result}\n" if result else "")
    return f"    {verb.result} {verb.name}({types}) const noexcept {{\n{body}    }}\n"


def question(name: str, verb: Verb) -> str:
    """Whether a layer shows a verb, and whether the verb is its own."""
    types = ", ".join(verb.types)
    parameters = "".join(f", {declared(each, i)}" for i, each in enumerate(verb.types))
    arguments = ", ".join(f"a{i}" for i in range(len(verb.types)))
    casts = [
        f"requires {{ static_cast<{verb.result} ({whose}*)({types}){const}>(&L::{verb.name}); }}"
        for whose, const in (("L::", ""), ("L::", " const"), ("", ""))
    ]
    passed = [
        f"requires {{ static_cast<{verb.result} ({FORWARDING}<P>::*)({types}){const}>"
        f"(&L::{verb.name}); }}"
        for const in ("", " const")
    ]
    return (
        f"template <class L>\nconstexpr bool sees_{name} = requires(L heap{parameters}) {{\n"
        f"    heap.{verb.name}({arguments});\n}};\n"
        f"template <class L, class P>\nconstexpr bool forwards_{name} =\n    "
        + " ||\n    ".join(passed)
        + f";\ntemplate <class L, class... P>\nconstexpr bool owns_{name} =\n    "
        + " ||\n    ".join([*casts, f"(forwards_{name}<L, P> || ...)"])
        + ";\n\n"
    )


def declared(kind: str, number: int) -> str:
    """A parameter of that type."""
    if "(*)" in kind:
        return kind.replace("(*)", f"(*a{number})")
    return f"{kind} a{number}"


def write_verbs(output: Path, include: Path) -> None:
    """The heap that has each verb, and what asks a layer for each."""
    verbs = probed_verbs(include)
    text = "// A verb is seen if it can be called, and owned if its address shows whose it is.\n\n"
    text += "/// Has each verb that a concept declares.\nclass ProbeVerbs {\npublic:\n"
    text += "".join(map(stub, verbs.values()))
    text += "\n    static inline std::vector<std::string> ran;\n\nprivate:\n"
    text += "    static void note(const char* verb);\n};\n\n"
    text += "".join(question(name, verb) for name, verb in verbs.items())
    text += "/// The verbs that a layer shows without having them itself, or from `P` by name.\n"
    text += "template <class L, class... P>\nstd::vector<std::string> leaksOver() {\n"
    text += "    std::vector<std::string> found;\n"
    for name, verb in verbs.items():
        text += f"    if (sees_{name}<L> && !owns_{name}<L, P...>) {{\n"
        text += f'        found.emplace_back("{verb.call}");\n    }}\n'
    text += "    return found;\n}\n"
    includes = "#pragma once\n\n#include <heapwright/heap.hpp>\n\n#include <string>\n"
    includes += "#include <string_view>\n#include <vector>\n"
    write(output / "verbs.hpp", unit(includes, text))


def unit(includes: str, body: str) -> str:
    """A file of the tests' namespace."""
    return f"{HEAD}{includes}\n{NAMESPACE}\n\n{body}\n}} // namespace heapwright::testing\n"


def write(path: Path, text: str) -> None:
    """Leaves a file that is as it should be, so that nothing is compiled anew for it."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def write_pairs(output: Path, catalogue: Catalogue, parts: int) -> None:
    toolbox, layers = catalogue.toolbox, catalogue.layers
    every = [each for layer in layers for each in overs(toolbox, layer)]
    declared = "".join(under(toolbox, layer) for layer in layers)
    declared += "".join(each.text for each in every)
    includes = "#pragma once\n\n#include <heapwright/heap.hpp>\n\n"
    includes += "#include <heaps/layers/pairs/pair.hpp>\n#include <support/counted.hpp>\n"
    write(output / "pairs.hpp", unit(includes, declared))
    names = [f"void addPairs{part}(std::vector<Pair>& pairs)" for part in range(parts)]
    for part, name in enumerate(names):
        asked = "".join(
            f"    addPair<{each.alias}, Under{layer.name}>(\n"
            f'        pairs, "{each.shown}", "{layer.name}");\n'
            for each in every[part::parts]
            for layer in layers
        )
        text = unit('#include "pairs.hpp"\n', f"{name};\n\n{name} {{\n{asked}}}\n")
        write(output / f"pairs_{part}.cpp", text)
    calls = "".join(f"    addPairs{part}(pairs);\n" for part in range(parts))
    body = "".join(f"{name};\n" for name in names)
    body += "\nstd::vector<Pair> allPairs() {\n    std::vector<Pair> pairs;\n"
    body += f"{calls}    return pairs;\n}}\n"
    write(output / "all_pairs.cpp", unit("#include <heaps/layers/pairs/pair.hpp>\n", body))


def main(include: Path, output: Path, parts: int) -> int:
    catalogue = checked_catalogue(include)
    output.mkdir(parents=True, exist_ok=True)
    write_pairs(output, catalogue, parts)
    write_verbs(output, include)
    standing = [layer for layer in catalogue.layers if layer.heaps]
    probes = ", \\\n    ".join(map(probe, standing))
    write(output / "probes.hpp", f"{HEAD}#define HEAPWRIGHT_PROBED_LAYERS \\\n    {probes}\n")
    print(*(layer.name for layer in standing), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])))
