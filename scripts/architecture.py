# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Write the verb table and the catalogue of ARCHITECTURE.md from the headers.

    python3 scripts/architecture.py [--check]

The verbs and what they mean are the concepts of core/concepts.hpp with their comments; the layers
are those of heap.hpp, each with its parameters, what it needs of them and its caption. What is
written stands between two markers, `<!-- verbs -->` and `<!-- layers -->` to `<!-- end -->`; the
rest of the page is its authors'. With `--check` nothing is written, and the exit status is 1 if the
page, or the list of verbs at the head of heap.hpp, says anything else than the code does.
"""

import difflib
import re
import sys
from pathlib import Path

from layer_catalogue import Catalogue, read_catalogue

from heapwright.artefacts.composition.layers import Layer, Parameter

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "ARCHITECTURE.md"
INCLUDE = ROOT / "include"
CONCEPTS = "heapwright/core/concepts.hpp"
BLOCK = "<!-- {name} -->\n{text}<!-- end -->"
CALL = re.compile(r"\{\s*heap\.(?P<call>\w+\([^()]*\))\s*\}")
CONCEPT = re.compile(
    r"(?P<doc>(?:^///[^\n]*\n)+)template <class H>\n"
    r"concept (?P<name>\w+) =(?P<body>.*?);\n(?=\n|///)",
    re.MULTILINE | re.DOTALL,
)
LISTED = re.compile(r"^//   (?P<verb>\w+)\((?P<rest>[^)]*)\)", re.MULTILINE)


def concepts(text: str) -> list[tuple[str, list[str], str]]:
    """Name, calls and meaning of each concept, in the order of the header."""
    found = []
    for match in CONCEPT.finditer(text):
        doc = " ".join(line.removeprefix("///").strip() for line in match["doc"].splitlines())
        found.append((match["name"], CALL.findall(match["body"]), doc))
    return found


def verb_table(text: str) -> str:
    """The concepts that name verbs, and below them those that name a property."""
    rows = ["| verb | concept | meaning |", "|---|---|---|"]
    properties = []
    for name, calls, doc in concepts(text):
        if calls:
            verbs = ", ".join(f"`{call}`" for call in calls)
            rows.append(f"| {verbs} | `{name}` | {doc} |")
        else:
            properties.append(f"| `{name}` | {doc} |")
    if not properties:
        return "\n".join([*rows, ""])
    head = ["", "What a heap says of itself, or has from the heaps below it:", ""]
    return "\n".join([*rows, *head, "| concept | meaning |", "|---|---|", *properties, ""])


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


def unlisted(concepts_text: str, catalogue_text: str) -> list[str]:
    """What the head of heap.hpp and the concepts do not have in common."""
    verbs = {
        call.partition("(")[0] for _, calls, _ in concepts(concepts_text) for call in calls
    } - {"afterForkInParent", "afterForkInChild"}
    listed = {match["verb"] for match in LISTED.finditer(catalogue_text)}
    return [f"heap.hpp does not list the verb {verb}" for verb in sorted(verbs - listed)] + [
        f"heap.hpp lists {verb}, which is in no concept" for verb in sorted(listed - verbs)
    ]


def unsaid(catalogue: Catalogue) -> list[str]:
    """Headers that stand in heap.hpp without a word about them."""
    return [
        f"heap.hpp does not say what {header} is for"
        for category in catalogue.categories
        for header, note in category.notes.items()
        if not note
    ]


def main(arguments: list[str]) -> int:
    text = (INCLUDE / CONCEPTS).read_text(encoding="utf-8")
    catalogue = read_catalogue(INCLUDE)
    page = PAGE.read_text(encoding="utf-8")
    new = rewritten(page, "verbs", verb_table(text))
    new = rewritten(new, "layers", layer_tables(catalogue))
    if arguments != ["--check"]:
        PAGE.write_text(new, encoding="utf-8")
        return 0
    heap = (INCLUDE / "heapwright" / "heap.hpp").read_text(encoding="utf-8")
    wrong = unlisted(text, heap) + unsaid(catalogue)
    wrong += difflib.unified_diff(
        page.splitlines(), new.splitlines(), PAGE.name, "the headers", lineterm="", n=0
    )
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
