# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What the headers say about layers, policies and concepts.

Nothing about a layer is written down a second time. Its parameters and their requirements are read
from the template line, and its effect from `caption`. `Below` names the parameters that are heaps.
The last line of the comment at its head, `// Example: …`, shows how it is commonly made.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from heapwright.artefacts.composition.aliases import without_comments
from heapwright.artefacts.composition.expression import Expression, parse_expression
from heapwright.base.errors import HeapwrightError
from heapwright.base.spelling import nearest

TEMPLATE = re.compile(r"\btemplate\s*<")
DECLARED = re.compile(
    r"\s*(?P<requires>requires\b.*?)?\b(?:class|struct)\s+(?:\[\[[^\]]*\]\]\s*)?"
    r"(?P<name>\w+)\s*(?:final\s*)?[:{]",
    re.DOTALL,
)
PLAIN = re.compile(
    r"^(?:class|struct)\s+(?P<name>[A-Z]\w*)\s*(?:final\s*)?(?::[^;{]*)?\{", re.MULTILINE
)
ALIAS = re.compile(r"\s*using\s+(?P<name>\w+)\s*=")
CAPTION = re.compile(r"\bcaption\s*=\s*(?P<text>(?:\"(?:[^\"\\]|\\.)*\"\s*)+);")
BELOW = re.compile(r"\bBelow\s*=\s*(?:\w+::)?Heaps<(?P<heaps>[^;]*)>\s*;")
EXAMPLE = re.compile(r"^// Example:\s*(?P<type>.+?)\s*$", re.MULTILINE)
CONCEPT = re.compile(
    r"(?P<doc>(?:^///[^\n]*\n)*)^template\s*<[^;{}]*>\s*\n?\s*concept\s+(?P<name>\w+)\s*="
    r"(?P<body>.*?);\s*\n(?=\s*\n|///|})",
    re.MULTILINE | re.DOTALL,
)
VERB = re.compile(r"\{\s*\w+(?:\.|::)(\w+)")
POLICIES = ("sizeclass", "sync", "structure", "platform")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One template parameter."""

    kind: str
    """`std::size_t`, `class`, or the concept that it must satisfy."""
    name: str
    is_heap: bool = False

    @property
    def concept(self) -> str:
        """The concept in the template line, if there is one."""
        plain = self.kind in ("class", "typename", "auto", "bool", "int", "unsigned")
        return "" if plain or not re.fullmatch(r"[A-Z]\w*", self.kind) else self.kind


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer, or a policy of layers (then no parameter of it is a heap)."""

    name: str
    category: str
    """The folder of its header: carve, reuse … or that of a policy: sizeclass, sync …"""
    header: str
    """As it is included."""
    parameters: tuple[Parameter, ...] = ()
    requires: str = ""
    """The clause behind the template line, without the word."""
    caption: str = ""
    example: Expression | None = None

    @property
    def is_heap(self) -> bool:
        return bool(self.caption)

    @property
    def heaps(self) -> tuple[int, ...]:
        """Which parameters are heaps; the last is the superheap."""
        return tuple(i for i, each in enumerate(self.parameters) if each.is_heap)

    @property
    def signature(self) -> str:
        names = ", ".join(parameter.name for parameter in self.parameters)
        return f"{self.name}<{names}>" if names else self.name


@dataclass(frozen=True, slots=True)
class Concept:
    """A concept that a heap can be required to satisfy."""

    name: str
    meaning: str = ""
    """The sentence above it."""
    verbs: tuple[str, ...] = ()
    """What it demands itself, beyond the concepts that it builds upon."""


@dataclass(frozen=True, slots=True)
class Toolbox:
    """All layers, policies and concepts that the headers declare."""

    layers: dict[str, Layer] = field(default_factory=dict)
    concepts: dict[str, Concept] = field(default_factory=dict)

    def __add__(self, other: "Toolbox") -> "Toolbox":
        return Toolbox(self.layers | other.layers, self.concepts | other.concepts)

    def find(self, name: str) -> Layer | None:
        return self.layers.get(name.removeprefix("::").removeprefix("heapwright::"))

    @property
    def names(self) -> list[str]:
        """The layers and policies that a composition can name."""
        layers = self.layers.values()
        return [each.name for each in layers if each.is_heap or each.category in POLICIES]

    def layer(self, name: str) -> Layer:
        """The layer of that name. Raises HeapwrightError with the names that are near."""
        found = self.find(name)
        if found is None:
            raise HeapwrightError(f"there is no layer {name!r}", nearest(name, self.names))
        return found


def read_toolbox(include: Path) -> Toolbox:
    """Read the headers of an installation; `include` is the folder that has `heapwright/`."""
    toolbox = Toolbox()
    for path in sorted((include / "heapwright").rglob("*.hpp")):
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise HeapwrightError(
                f"the header {path} cannot be read: {error}", "build and install again"
            ) from error
        toolbox += read_header(text, str(path.relative_to(include)))
    if not toolbox.layers:
        raise HeapwrightError(f"there are no layers in {include}", "build and install again")
    return toolbox


def read_header(text: str, header: str) -> Toolbox:
    """What one header declares."""
    parts = Path(header).parts
    category = parts[-2] if len(parts) > 1 else ""
    bare = without_comments(text)
    found = list(_templates(bare))
    found += [(m["name"], "", "", m.end()) for m in PLAIN.finditer(bare) if _is_top(bare, m)]
    found.sort(key=lambda each: each[3])
    layers = {}
    for index, (name, parameters, requires, start) in enumerate(found):
        end = found[index + 1][3] if index + 1 < len(found) else len(text)
        layers[name] = _layer(
            (name, category, header), parameters, requires, text[start:end], _example(text, name)
        )
    return Toolbox(layers, {each.name: each for each in _concepts(text)})


def _is_top(bare: str, match: re.Match[str]) -> bool:
    """Whether a class that is no template was found, rather than the class of a template."""
    before = bare[: match.start()].rstrip()
    return not before or before[-1] in ";{}" or before.endswith('"')


def _templates(bare: str) -> Iterator[tuple[str, str, str, int]]:
    """Name, parameters, requires-clause and end of each class template and alias template."""
    for match in TEMPLATE.finditer(bare):
        end = _closing(bare, match.end())
        parameters = bare[match.end() : end - 1]
        declared = DECLARED.match(bare, end)
        if declared is not None and not re.search(r"[;]|\n\s*template\b", declared[0]):
            requires = (declared["requires"] or "").strip().removeprefix("requires").strip()
            yield declared["name"], parameters, requires, declared.end()
        elif alias := ALIAS.match(bare, end):
            yield alias["name"], parameters, "", alias.end()


def _closing(text: str, start: int) -> int:
    """Behind the > that closes the < before `start`."""
    depth = 1
    for index in range(start, len(text)):
        depth += {"<": 1, ">": -1}.get(text[index], 0)
        if depth == 0:
            return index + 1
    return len(text)


def _layer(
    place: tuple[str, str, str],
    parameters: str,
    requires: str,
    body: str,
    example: Expression | None,
) -> Layer:
    caption = CAPTION.search(body)
    below = BELOW.search(body)
    heaps = [name.strip() for name in below["heaps"].split(",")] if below else []
    return Layer(
        *place,
        parameters=tuple(_parameter(each, heaps) for each in split_list(parameters)),
        requires=" ".join(requires.split()),
        caption="".join(re.findall(r'"((?:[^"\\]|\\.)*)"', caption["text"])) if caption else "",
        example=example,
    )


def _parameter(text: str, heaps: Sequence[str]) -> Parameter:
    words = text.partition("=")[0].split()
    name = words[-1].lstrip(".&*") if len(words) > 1 else ""
    kind = " ".join(words[:-1] or words)
    is_heap = name in heaps or name == "SuperHeap"
    return Parameter(kind, name, is_heap)


def split_list(text: str, separator: str = ",") -> list[str]:
    """The parts of a list, split at what separates it outside of all brackets."""
    parts = [""]
    depth = index = 0
    while index < len(text):
        if depth == 0 and text.startswith(separator, index):
            parts.append("")
            index += len(separator)
            continue
        depth += (text[index] in "<([{") - (text[index] in ">)]}")
        parts[-1] += text[index]
        index += 1
    return [part.strip() for part in parts if part.strip()]


def _example(text: str, name: str) -> Expression | None:
    for match in EXAMPLE.finditer(text):
        try:
            example = parse_expression(match["type"])
        except HeapwrightError:
            continue
        if example.name == name:
            return example
    return None


def _concepts(text: str) -> Iterator[Concept]:
    for match in CONCEPT.finditer(text):
        doc = " ".join(line.removeprefix("///").strip() for line in match["doc"].splitlines())
        sentence = re.split(r"[.;:]\s|[.;:]$", doc, maxsplit=1)[0]
        verbs = tuple(dict.fromkeys(VERB.findall(match["body"])))
        yield Concept(match["name"], sentence, verbs)
