# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A concept declares each optional verb of a heap, and no code probes for one without a concept.

A misspelled verb in a bare `requires` expression is no error: the expression is false, and the code
behind it silently disappears. In a concept the misspelling is seen, because the concept has users
and a test.
"""

import re
from types import ModuleType

import pytest

from support.scripts import ROOT, load_script

INCLUDE = ROOT / "include"
CORE_LINES = 60
FOLDERS = (
    "include/heapwright/layers",
    "include/heapwright/structure",
    "include/heapwright/adaptor",
    "native/preload",
)
EXCEPTIONS: dict[str, str] = {}
"""Files with bare probes, each with the reason."""

PROBE = re.compile(r"\brequires\s*(?:\((?P<parameters>(?:[^()]|\([^()]*\))*)\)\s*)?\{")
CONCEPT = re.compile(r"\bconcept\s+\w+\s*=.*?;\s*\n(?=\s*\n|///|\}|template)", re.DOTALL)
DECLARES = re.compile(r"\w[\w:<>]*\s*[&*]*\s+[&*]*\w+\s*(?:,|$)")


def bare_probes(text: str) -> list[str]:
    """The `requires` expressions outside of concepts."""
    code = re.sub(r"//[^\n]*", "", text)
    code = CONCEPT.sub("", code)
    return [
        " ".join(code[match.start() : match.end() + 40].split())
        for match in PROBE.finditer(code)
        if match["parameters"] is None or DECLARES.search(match["parameters"])
    ]


@pytest.fixture(scope="module")
def verbs() -> ModuleType:
    return load_script("scripts/verbs.py")


def test_no_verb_is_probed_for_without_a_concept() -> None:
    files = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.hpp"))]
    assert len(files) > 150
    found = {
        str(path.relative_to(ROOT)): probes
        for path in files
        if (probes := bare_probes(path.read_text(encoding="utf-8")))
    }
    assert {name: probes for name, probes in found.items() if name not in EXCEPTIONS} == {}
    assert set(EXCEPTIONS) <= set(found), "an exception without a probe"


@pytest.mark.parametrize(
    "probe",
    [
        "void f() requires requires(H heap) { heap.verb(); } {}",
        "if constexpr (requires { heap.verb(); }) {}",
        "static constexpr bool tagged = requires { requires SuperHeap::tagged; };",
        "if constexpr (requires(H& heap, void* object) { heap.verb(object); }) {}",
    ],
)
def test_a_bare_probe_is_seen(probe: str) -> None:
    assert bare_probes(probe)


@pytest.mark.parametrize(
    "code",
    [
        "template <class H>\nconcept C = requires(H heap) {\n    heap.verb();\n};\n\nint x;\n",
        "void f() noexcept\n    requires(!Lines::clean)\n{\n}\n",
        "void f() noexcept\n    requires FlushableHeap<SuperHeap>\n{\n}\n",
        "// requires { nothing; }\n",
    ],
)
def test_a_concept_or_a_constraint_is_no_bare_probe(code: str) -> None:
    assert bare_probes(code) == []


def test_the_core_fits_on_one_screen(verbs: ModuleType) -> None:
    text = (INCLUDE / "heapwright/core/concepts.hpp").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= CORE_LINES
    names = [verb.name for concept in verbs.read_concepts(text) for verb in concept.verbs]
    assert names == ["malloc", "free", "getSize", "memalign", "resize", "clear"]


def test_a_verb_has_the_same_types_in_every_concept(verbs: ModuleType) -> None:
    """Overloads differ in their number of parameters, or in one that is a function."""
    seen: dict[tuple[str, int], tuple[str, ...]] = {}
    for verb in verbs.all_verbs(INCLUDE):
        assert seen.setdefault((verb.name, len(verb.types)), verb.types) == verb.types, verb.name


def test_the_probe_heaps_have_no_verb_that_no_concept_declares(verbs: ModuleType) -> None:
    declared = {verb.name for verb in verbs.all_verbs(INCLUDE)} | {"theHeap"}
    text = (ROOT / "tests/heaps/layers/leak_probe_test.cpp").read_text(encoding="utf-8")
    classes = re.findall(r"^class (Probe\w+)(.*?)^\};", text, re.MULTILINE | re.DOTALL)
    assert len(classes) > 4
    written = {
        (name, verb)
        for name, body in classes
        for verb in re.findall(r"\b(\w+)\([^()]*\) (?:const )?noexcept", body)
    }
    assert written
    assert {each for each in written if each[1] not in declared} == set()
