# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The verbs of a heap as the concepts in the headers declare them.

A verb is an expression `{ heap.verb(arguments) } -> std::same_as<Result>;` in a concept whose
`requires` clause declares `H heap`, or `{ H::verb(arguments) }`. The types of its parameters are
those that the clause declares. The table of ARCHITECTURE.md and the probe for verbs that leak past
a layer are written from what is read here. Standard library only.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

CORE = "heapwright/core"
TIERS = (
    ("core", f"{CORE}/concepts.hpp"),
    ("variants of a request", f"{CORE}/requests.hpp"),
    ("bulk", f"{CORE}/bulk.hpp"),
    ("introspection", f"{CORE}/introspection.hpp"),
    ("fork and signals", f"{CORE}/fork_and_signals.hpp"),
)
TRAITS = f"{CORE}/traits.hpp"
FAST_PATH = "heapwright/structure/cache/fast_path.hpp"

CONCEPT = re.compile(
    r"(?P<doc>(?:^///[^\n]*\n)+)template <class H>\n"
    r"concept (?P<name>\w+) =(?P<body>.*?);\n(?=\n|///)",
    re.MULTILINE | re.DOTALL,
)
PARAMETERS = re.compile(r"requires\((?P<list>(?:[^()]|\([^()]*\))*)\) \{")
VERB = re.compile(
    r"\{\s*(?P<whose>heap\.|H::)(?P<verb>\w+)\((?P<arguments>[^()]*)\)\s*\}"
    r"\s*(?:noexcept\s*)?->\s*std::same_as<(?P<result>[^;]*)>;"
)
CALL = re.compile(r"\{\s*(?:heap\.|H::)\w+\([^{};]*\)\s*\}")


@dataclass(frozen=True)
class Verb:
    """One verb of one concept."""

    name: str
    arguments: tuple[str, ...]
    """Names of the parameters, as in the concept."""
    types: tuple[str, ...]
    """Types of the parameters, in the same order."""
    result: str

    @property
    def call(self) -> str:
        return f"{self.name}({', '.join(self.arguments)})"

    @property
    def depends_on_heap(self) -> bool:
        """Whether a type is one of the heap's own, so that no probe can have the verb."""
        return any(re.search(r"\bH\b", each) for each in (*self.types, self.result))


@dataclass(frozen=True)
class Concept:
    """A concept of heaps."""

    name: str
    meaning: str
    """Its comment as one line."""
    verbs: tuple[Verb, ...]


def read_concepts(text: str) -> list[Concept]:
    """The concepts of a header, in its order. Stops at a verb that cannot be read."""
    return [
        Concept(
            match["name"],
            " ".join(line.removeprefix("///").strip() for line in match["doc"].splitlines()),
            tuple(_verbs(match["name"], match["body"])),
        )
        for match in CONCEPT.finditer(text)
    ]


def _verbs(concept: str, body: str) -> Iterator[Verb]:
    found = list(VERB.finditer(body))
    if len(found) != len(CALL.findall(body)):
        raise SystemExit(f"{concept}: each verb is `{{ heap.verb(names) }} -> std::same_as<T>;`")
    types = _parameters(body)
    for match in found:
        names = tuple(each.strip() for each in match["arguments"].split(",") if each.strip())
        unknown = [each for each in names if each not in types]
        if unknown:
            raise SystemExit(f"{concept}: {match['verb']} has the undeclared argument {unknown[0]}")
        result = " ".join(match["result"].removeprefix("typename ").split())
        yield Verb(match["verb"], names, tuple(types[each] for each in names), result)


def _parameters(body: str) -> dict[str, str]:
    """The names that the `requires` clause declares, with their types."""
    found = {}
    for clause in PARAMETERS.finditer(body):
        depth = 0
        parts = [""]
        for letter in clause["list"]:
            depth += (letter in "(<") - (letter in ")>")
            if letter == "," and depth == 0:
                parts.append("")
            else:
                parts[-1] += letter
        for part in map(str.strip, parts):
            if pointer := re.fullmatch(r"(?P<result>.+)\(\*(?P<name>\w+)\)(?P<rest>\(.*\))", part):
                found[pointer["name"]] = f"{pointer['result'].strip()} (*){pointer['rest']}"
            elif plain := re.fullmatch(r"(?P<type>.+?)\s*\b(?P<name>\w+)", part, re.DOTALL):
                found[plain["name"]] = " ".join(plain["type"].removeprefix("typename ").split())
    return found


def concepts_of(include: Path, header: str) -> list[Concept]:
    return read_concepts((include / header).read_text(encoding="utf-8"))


def all_verbs(include: Path) -> list[Verb]:
    """Every verb that a concept in any header declares: the tiers first, each verb once."""
    tiers = [header for _, header in TIERS]
    rest = sorted(
        str(path.relative_to(include)) for path in (include / "heapwright").rglob("*.hpp")
    )
    found: dict[tuple[str, tuple[str, ...]], Verb] = {}
    for header in [*tiers, *(each for each in rest if each not in tiers)]:
        for concept in concepts_of(include, header):
            for verb in concept.verbs:
                found.setdefault((verb.name, verb.types), verb)
    return list(found.values())
