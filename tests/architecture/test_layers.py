# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Every layer has the one shape. Policies come first, the superheap is last and inherited from in
private, and there are no defaults. Its needs are constraints. It has a caption, an example, and
nothing but these in its name.
"""

import re
from pathlib import Path

import pytest

from heapwright.artefacts.composition.layers import Layer, read_toolbox

INCLUDE = Path(__file__).parents[2] / "include"
TOOLBOX = read_toolbox(INCLUDE)
# What stands on heaps without being one: a class's operators new and delete.
NO_HEAP = {"PerClassHeap"}
# What holds many heaps of a type, or faces one that lives elsewhere, and so inherits from none.
HOLDS = {"ThreadHeap", "PHOThreadHeap", "UniqueHeap"}

# The verbs that a layer writes itself, though it may pass them on; `free` also takes a size.
HOT = {"free"}
# What hands arguments of its constructor to its superheap, which a base between them cannot.
CONSTRUCTS = {"ClearOptimizedHeap"}
# A function of a layer that does no more than the superheap's, without a comment that says why it
# is written out.
PURE_FORWARDER = re.compile(
    r"(?<!///)\n\n? {4}(?:\[\[nodiscard\]\] )?[\w:*&]+ (?P<verb>\w+)\((?P<parameters>[^()]*)\) "
    r"noexcept\s*(?:requires \w+Heap<SuperHeap>\s*)?\{\s*(?:return )?"
    r"SuperHeap::(?P=verb)\((?P<arguments>[^()]*)\);\s*\}"
)


def file_stem(name: str) -> str:
    """`FreelistHeap` → `freelist_heap`, `ANSIWrapper` → `ansi_wrapper`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def of_file(layer: Layer) -> bool:
    """Whether a declaration is what its file is named for; helpers beside it are not layers."""
    stem = Path(layer.header).stem
    return layer.header.startswith("heapwright/layers/") and stem.replace("_", "") == (
        file_stem(layer.name).replace("_", "")
    )


LAYERS = sorted((each for each in TOOLBOX.layers.values() if of_file(each)), key=lambda e: e.name)
OVER_HEAPS = [layer for layer in LAYERS if layer.heaps and layer.name not in NO_HEAP]


def text_of(layer: Layer) -> str:
    return text_of_header(layer.header)


def text_of_header(header: str) -> str:
    return (INCLUDE / header).read_text(encoding="utf-8")


def names_of(parameters: str) -> str:
    """`void* object, std::size_t size` → `object, size`."""
    names = [each.split()[-1].lstrip("&*") for each in parameters.split(",") if each.strip()]
    return ", ".join(names)


def name(layer: Layer) -> str:
    return layer.name


def test_every_file_of_a_layer_declares_the_layer_it_is_named_for() -> None:
    files = {
        str(path.relative_to(INCLUDE)) for path in (INCLUDE / "heapwright/layers").rglob("*.hpp")
    }
    assert files == {layer.header for layer in LAYERS}
    assert len(files) > 40


@pytest.mark.parametrize("layer", LAYERS, ids=name)
def test_head_says_what_it_does_and_how_it_is_made(layer: Layer) -> None:
    head = text_of(layer).partition("#pragma once")[0].strip().splitlines()
    assert head[-1].startswith(f"// Example: {layer.name}"), "the last line before #pragma once"
    assert layer.example is not None
    assert len(head) > 5
    if layer.name not in NO_HEAP:
        assert re.fullmatch(r"[a-z0-9'].*[^.]", layer.caption), layer.caption


@pytest.mark.parametrize("layer", OVER_HEAPS, ids=name)
def test_superheap_is_the_last_parameter_and_inherited_from_in_private(layer: Layer) -> None:
    last = layer.parameters[-1]
    assert last.name == "SuperHeap"
    assert layer.heaps[-1] == len(layer.parameters) - 1
    assert last.concept or layer.requires, "what it needs from below is a constraint"
    declaration = re.search(rf"\bclass {layer.name}\b([^{{;]*)\{{", text_of(layer))
    assert declaration is not None
    bases = declaration[1]
    assert not re.search(r"(public|protected) (Forwarding<)?SuperHeap\b", bases)
    if layer.name not in HOLDS:
        assert re.search(r"\bSuperHeap\b", bases), "it inherits from what is under it"


@pytest.mark.parametrize("layer", OVER_HEAPS, ids=name)
def test_a_verb_that_is_passed_on_unchanged_is_named(layer: Layer) -> None:
    """`using Forwards::trim;` in place of a function that only calls the superheap's."""
    forwarding = text_of_header("heapwright/structure/forwarding.hpp")
    verbs = set(re.findall(r"SuperHeap::(\w+)\(", forwarding)) - HOT
    pure = [
        match["verb"]
        for match in PURE_FORWARDER.finditer(text_of(layer))
        if match["verb"] in verbs and names_of(match["parameters"]) == match["arguments"]
    ]
    assert not pure or layer.name in CONSTRUCTS, "derive from Forwarding<SuperHeap> and name them"


@pytest.mark.parametrize("layer", LAYERS, ids=name)
def test_no_template_parameter_has_a_default(layer: Layer) -> None:
    before = re.split(rf"\bclass {layer.name}\b[^;]*?\{{", text_of(layer))[0]
    parameters = before.rpartition("template <")[2] if "template <" in before else ""
    assert not re.search(r"\w\s+=\s+\w", parameters), parameters


@pytest.mark.parametrize("layer", OVER_HEAPS, ids=name)
def test_nothing_is_asserted_about_the_superheap(layer: Layer) -> None:
    """An assertion is a page of errors, and cannot be tested beforehand. A constraint is a line."""
    asserted = re.findall(r"static_assert\((.*?)\);", text_of(layer), re.DOTALL)
    own = f"alignof({layer.name})"  # its own layout is known only when it is complete
    assert not [text for text in asserted if "SuperHeap" in text and own not in text]
