# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""ARCHITECTURE.md and heap.hpp say of verbs and layers what the code says, and a change is seen."""

import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from support.scripts import ROOT, load_script

SCRIPT = ROOT / "scripts" / "architecture.py"
CONCEPTS = """\
/// A heap gives out memory.
/// And takes it back.
template <class H>
concept Heap = requires(H heap, std::size_t size, void* object) {
    { heap.malloc(size) } -> std::same_as<void*>;
    { heap.free(object) } -> std::same_as<void>;
};

/// Any order will do.
template <class H>
concept AnyOrderHeap = Heap<H> && !stackHeap<H>;

"""


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(SCRIPT.parent)
    return load_script("scripts/architecture.py")


def read_concepts(text: str = CONCEPTS) -> Any:
    return load_script("scripts/verbs.py").read_concepts(text)


def test_the_page_is_what_the_headers_say() -> None:
    done = subprocess.run(
        [sys.executable, SCRIPT, "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{done.stdout}{done.stderr}run scripts/architecture.py"


def test_verbs_and_traits_are_read_from_the_concepts(script: ModuleType) -> None:
    concepts = read_concepts()
    assert (
        "| `malloc(size)`, `free(object)` | `Heap` | A heap gives out memory. And takes it back. |"
    ) in script.verb_table(concepts)
    assert "| `AnyOrderHeap` | Any order will do. |" in script.trait_table(concepts)


def test_the_page_has_a_table_for_each_tier() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    for tier in ("core", "bulk", "introspection", "fork and signals", "traits", "fast path"):
        assert f"**{tier}**" in page


def test_a_verb_has_the_types_that_its_concept_declares() -> None:
    malloc, free = read_concepts()[0].verbs
    assert (malloc.name, malloc.types, malloc.result) == ("malloc", ("std::size_t",), "void*")
    assert (free.name, free.types, free.result) == ("free", ("void*",), "void")


def test_a_verb_without_a_result_is_refused() -> None:
    text = CONCEPTS.replace(
        "{ heap.malloc(size) } -> std::same_as<void*>;", "{ heap.malloc(size) };"
    )
    with pytest.raises(SystemExit, match="Heap: each verb is"):
        read_concepts(text)


def test_a_verb_that_one_list_lacks_is_named(script: ModuleType) -> None:
    assert script.unlisted(
        read_concepts(), "//   malloc(size)   memory\n//   trim(pad)   back\n"
    ) == [
        "heap.hpp does not list the verb free",
        "heap.hpp lists trim, which is in no concept",
    ]


def test_a_page_that_says_something_else_is_noticed(
    script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    script.__dict__["PAGE"] = tmp_path / "ARCHITECTURE.md"
    script.PAGE.write_text(page.replace("| never has memory |", "| has memory |"), "utf-8")
    assert script.main(["--check"]) == 1
    assert "| never has memory |" in capsys.readouterr().out
    assert script.main([]) == 0
    assert script.PAGE.read_text("utf-8") == page


def test_a_page_without_its_markers_is_refused(script: ModuleType) -> None:
    with pytest.raises(SystemExit, match="no block <!-- verbs -->"):
        script.rewritten("# A page\n", "verbs", "text")
