# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Write the verb table and the catalogue of ARCHITECTURE.md from the headers.

    python3 scripts/architecture.py [--check]

The verbs and their meanings are the concepts of the contract's tiers with their comments, one table
for each tier (scripts/verbs.py). The layers are those of heap.hpp, each with its parameters, what
it needs of them and its caption. The generated text is between `<!-- verbs -->` or `<!-- layers
-->` and `<!-- end -->`. The rest of the page is written by hand. `--check` writes nothing. Its exit
status is 1 if the page, or the list of verbs at the head of heap.hpp, differs from the code.
"""

import difflib
import re
import sys
from pathlib import Path

from layer_catalogue import Catalogue, read_catalogue
from verbs import FAST_PATH, TIERS, TRAITS, Concept, concepts_of

from heapwright.artefacts.composition.layers import Layer, Parameter

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "ARCHITECTURE.md"
INCLUDE = ROOT / "include"
BLOCK = "<!-- {name} -->\n{text}<!-- end -->"
LISTED = re.compile(r"^//   (?P<verb>\w+)\((?P<rest>[^)]*)\)", re.MULTILINE)


def verb_table(concepts: list[Concept]) -> str:
    """The concepts that declare verbs."""
    rows = ["| verb | concept | meaning |", "|---|---|---|"]
    for concept in concepts:
        if concept.verbs:
            verbs = ", ".join(f"`{verb.call}`" for verb in concept.verbs)
            rows.append(f"| {verbs} | `{concept.name}` | {concept.meaning} |")
    return "\n".join([*rows, ""])


def trait_table(concepts: list[Concept]) -> str:
    """The concepts that declare no verb."""
    rows = ["| concept | meaning |", "|---|---|"]
    rows += [f"| `{each.name}` | {each.meaning} |" for each in concepts if not each.verbs]
    return "\n".join([*rows, ""])


def contract(include: Path) -> str:
    """A table for each tier, then the traits and the protocol of the caches."""
    parts = []
    for name, header in TIERS:
        concepts = concepts_of(include, header)
        parts.append(
            f"**{name}** (`{header.removeprefix('heapwright/')}`):\n\n{verb_table(concepts)}"
        )
    parts.append(
        "**traits**, what a heap states of itself or has from the heaps below"
        f" (`{TRAITS.removeprefix('heapwright/')}`):\n\n{trait_table(concepts_of(include, TRAITS))}"
    )
    parts.append(
        "**fast path**, private to the caches"
        f" (`{FAST_PATH.removeprefix('heapwright/')}`):\n\n"
        f"{verb_table(concepts_of(include, FAST_PATH))}"
    )
    return "\n".join(parts)


def shown(parameter: Parameter) -> str:
    return f"{parameter.concept} {parameter.name}" if parameter.concept else parameter.name


def needs(layer: Layer) -> str:
    """What a layer demands beyond the concepts of its parameters, as one list."""
    clause = layer.requires.strip()
    if clause.startswith("(") and clause.endswith(")"):
        clause = clause[1:-1].strip()
    return ", ".join(f"`{part.strip()}`" for part in clause.split("&&")) if clause else ""


def layer_tables(catalogue: Catalogue) -> str:
    parts = []
    for category in catalogue.categories:
        parts += [f"**{category.name}**: {category.meaning}", ""]
        parts += ["| layer | what it does | and needs |", "|---|---|---|"]
        for layer in category.layers:
            parameters = ", ".join(map(shown, layer.parameters))
            signature = f"{layer.name}<{parameters}>" if parameters else layer.name
            parts.append(f"| `{signature}` | {layer.caption} | {needs(layer)} |")
        parts.append("")
    return "\n".join(parts)


def rewritten(page: str, name: str, text: str) -> str:
    """The page with one block replaced."""
    block = re.compile(rf"<!-- {name} -->\n.*?<!-- end -->", re.DOTALL)
    if not block.search(page):
        raise SystemExit(f"{PAGE.name} has no block <!-- {name} --> … <!-- end -->")
    return block.sub(lambda _: BLOCK.format(name=name, text=text), page, count=1)


def unlisted(concepts: list[Concept], catalogue_text: str) -> list[str]:
    """The differences between the head of heap.hpp and the verbs of the tiers."""
    verbs = {(verb.name, len(verb.types)) for each in concepts for verb in each.verbs}
    verbs -= {("afterForkInParent", 0), ("afterForkInChild", 0)}
    listed = {
        (match["verb"], len([each for each in match["rest"].split(",") if each.strip()]))
        for match in LISTED.finditer(catalogue_text)
    }
    return [f"heap.hpp does not list the verb {verb}" for verb, _ in sorted(verbs - listed)] + [
        f"heap.hpp lists {verb}, which is in no concept" for verb, _ in sorted(listed - verbs)
    ]


def unsaid(catalogue: Catalogue) -> list[str]:
    """Headers that heap.hpp includes without a description."""
    return [
        f"heap.hpp does not say what {header} is for"
        for category in catalogue.categories
        for header, note in category.notes.items()
        if not note
    ]


def main(arguments: list[str]) -> int:
    concepts = [each for _, header in TIERS for each in concepts_of(INCLUDE, header)]
    catalogue = read_catalogue(INCLUDE)
    page = PAGE.read_text(encoding="utf-8")
    new = rewritten(page, "verbs", contract(INCLUDE))
    new = rewritten(new, "layers", layer_tables(catalogue))
    if arguments != ["--check"]:
        PAGE.write_text(new, encoding="utf-8")
        return 0
    heap = (INCLUDE / "heapwright" / "heap.hpp").read_text(encoding="utf-8")
    wrong = unlisted(concepts, heap) + unsaid(catalogue)
    wrong += difflib.unified_diff(
        page.splitlines(), new.splitlines(), PAGE.name, "the headers", lineterm="", n=0
    )
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
