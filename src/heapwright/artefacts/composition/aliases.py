# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Headers of named rungs, read: `using Source = SizeHeap<Chunks>; // each object remembers`.

A composition is a few aliases in a namespace (docs/how-to/writing-an-allocator.md). To change one,
it has to be seen whole. Every alias is replaced by its meaning, as a compiler would find it, from
the innermost namespace outwards. All other contents of a header are skipped.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from heapwright.artefacts.composition.expression import Expression, parse_expression
from heapwright.base.errors import HeapwrightError

HOME = ("heapwright", "allocators")
"""The namespace in which compositions live; what is written on a command line is looked up here."""
STEP = re.compile(
    r"namespace\s+(?P<namespace>[\w:]+)\s*\{"
    r"|using\s+(?P<alias>\w+)\s*=\s*(?P<type>[^;{}]+);(?P<rest>[^\n]*)"
    r"|(?:inline\s+)?constexpr\s+[\w:]+\s+(?P<constant>\w+)\s*=\s*(?P<value>[^;]+);"
    r"|(?P<assert>static_assert\s*\([^;]*;)"
    r"|(?P<open>\{)|(?P<close>\})"
)
NOTHING_ELSE = re.compile(
    r"#\s*pragma\s+once|#\s*include\s*<heapwright/[^\n]*|namespace\s+[\w:]+\s*\{|\}|\s+"
)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"", re.DOTALL)
TEMPLATE = re.compile(r"template\s*<[^;{}]*>\s*$")


@dataclass(frozen=True, slots=True)
class Alias:
    """One rung: where it stands, what it is called, what it is, what its comment says."""

    scope: tuple[str, ...]
    name: str
    type: Expression
    note: str = ""

    @property
    def qualified(self) -> str:
        return "::".join((*self.scope, self.name))


def read_aliases(text: str) -> list[Alias]:
    """The aliases and constants of a header, in its order, without those in classes."""
    aliases = []
    for match, scope in _steps(without_comments(text)):
        name = match["alias"] or match["constant"]
        if name:
            try:
                meaning = parse_expression(match["type"] or match["value"])
            except HeapwrightError:
                continue  # the compiler will say what is wrong with it
            note = _note(text, match) if match["alias"] else ""
            aliases.append(Alias(scope, name, meaning, note))
    return aliases


def without_rungs(text: str) -> str:
    """What a header holds besides its rungs: layers of the user's own; empty if there is nothing.

    Assertions about rungs go with them."""
    kept, end = "", 0
    for match, _ in _steps(without_comments(text)):
        kept += text[end : match.start()]
        end = match.start("rest") if match["alias"] else match.end()
    kept += text[end:]
    return kept if NOTHING_ELSE.sub("", without_comments(kept)) else ""


def without_comments(text: str) -> str:
    """The text with comments and string literals made blank, at the same length."""
    return COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def _steps(bare: str) -> Iterator[tuple[re.Match[str], tuple[str, ...]]]:
    """The aliases and assertions of a header at namespace scope, with their scope."""
    blocks: list[tuple[str, ...] | None] = []  # the names of a namespace; none for other braces
    for match in STEP.finditer(bare):
        if match["namespace"]:
            blocks.append(tuple(match["namespace"].split("::")))
        elif match["open"]:
            blocks.append(None)
        elif match["close"]:
            if blocks:
                blocks.pop()
        elif None not in blocks and not TEMPLATE.search(bare[: match.start()]):
            yield match, tuple(name for block in blocks if block for name in block)


def _note(text: str, match: re.Match[str]) -> str:
    """The comment behind an alias, or on the line of its own before it."""
    behind = text[match.start("rest") : match.end("rest")].strip()
    if behind.startswith("//"):
        return behind.lstrip("/ ").strip()
    before = text[: match.start()].rstrip(" \t").removesuffix("\n").rpartition("\n")[2].strip()
    return before.lstrip("/ ").strip() if before.startswith("//") and not behind else ""


class Scope:
    """The aliases of several headers, by their qualified names."""

    def __init__(self, aliases: Iterable[Alias] = ()) -> None:
        self._aliases = {alias.qualified: alias for alias in aliases}

    def __contains__(self, name: str) -> bool:
        return self.find(name) is not None

    @property
    def aliases(self) -> list[Alias]:
        return list(self._aliases.values())

    @property
    def names(self) -> list[str]:
        """All names, as they are written inside the namespace of compositions."""
        home = "::".join(HOME) + "::"
        return [name.removeprefix(home) for name in self._aliases]

    def find(self, name: str, scope: tuple[str, ...] = HOME) -> Alias | None:
        """What `name` means when it is written in `scope`."""
        if name.startswith("::"):
            return self._aliases.get(name[2:])
        places = [scope[:length] for length in range(len(scope), -1, -1)]
        if HOME not in places:
            places += [HOME[:length] for length in range(len(HOME), 0, -1)]
        for place in places:
            found = self._aliases.get("::".join((*place, name)))
            if found is not None:
                return found
        return None

    def resolve(self, expression: Expression, scope: tuple[str, ...] = HOME) -> Expression:
        """The expression with every alias in it replaced by what it stands for."""
        return self._resolve(expression, scope, ())

    def _resolve(
        self, expression: Expression, scope: tuple[str, ...], on_the_way: tuple[str, ...]
    ) -> Expression:
        if not expression.is_named:
            return expression
        if expression.arguments:
            arguments = (self._resolve(each, scope, on_the_way) for each in expression.arguments)
            return replace(expression, name=_short(expression.name), arguments=tuple(arguments))
        alias = self.find(expression.name, scope)
        if alias is None:
            return replace(expression, name=_short(expression.name))
        if alias.qualified in on_the_way:
            raise HeapwrightError(f"the rung {alias.qualified} stands on itself")
        meant = self._resolve(alias.type, alias.scope, (*on_the_way, alias.qualified))
        if not meant.is_named:
            return meant  # a constant: it is written where it is used
        return replace(meant, rung=alias.name, note=alias.note or meant.note)


def _short(name: str) -> str:
    """Layers are written without their namespace."""
    return name.removeprefix("::").removeprefix("heapwright::")
