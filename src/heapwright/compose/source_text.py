# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A composition written as people write one: named rungs, the source first, a caption each.

Rungs that came from a header keep their names and comments; new ones are named after their layer
and have its caption. A source without policies has no rung of its own.
"""

import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from heapwright.artefacts.composition.aliases import HOME
from heapwright.artefacts.composition.expression import Expression
from heapwright.artefacts.composition.layers import Layer, Toolbox

WIDTH = 100
MARK = "$"
KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        """alignas alignof and asm auto bool break case catch char class const continue default
        delete do double else enum explicit export extern false final float for friend goto if
        inline int long mutable namespace new not null operator or private protected public register
        return short signed sizeof static std struct switch template this throw true try typedef
        typeid typename union unsigned using virtual void volatile while xor concept requires""",
    )
)


@dataclass(frozen=True, slots=True)
class Written:
    """A header, or the end of one, and the type that is defined there, fully qualified."""

    text: str
    type: str


def namespace_of(name: str, taken: Iterable[str] = ()) -> str:
    """The namespace of an allocator's rungs: bounded-lea → bounded_lea."""
    plain = name.replace("-", "_")
    return f"{plain}_" if plain in KEYWORDS or plain in taken else plain


def type_of(name: str, taken: Iterable[str] = ()) -> str:
    """The name of its type: bounded-lea → BoundedLea."""
    words = "".join(word[:1].upper() + word[1:] for word in re.split(r"[-_]+", name))
    return f"{words}Allocator" if words in taken else words


def write_header(
    name: str, expression: Expression, toolbox: Toolbox, head: Sequence[str], include: str = ""
) -> Written:
    """The header of a composition whose aliases are all resolved.

    `head` is the comment at its top, a paragraph each; `include` a header of the user's own.
    """
    comment: list[str] = []
    for paragraph in head:
        comment += ["//"] if comment else []
        lines = textwrap.wrap(paragraph, WIDTH - 3, break_on_hyphens=False, break_long_words=False)
        comment += [f"// {line}" for line in lines]
    rungs = write_rungs(name, expression, toolbox)
    lines = [*comment, "#pragma once", "", "#include <heapwright/heap.hpp>"]
    lines += [f'#include "{include}"'] if include else []
    return Written("\n".join(lines) + "\n\n" + rungs.text, rungs.type)


def write_rungs(
    name: str, expression: Expression, toolbox: Toolbox, taken: Iterable[str] = ()
) -> Written:
    """The rungs of an allocator and the type on top of them; `taken` are names it may not use."""
    all_taken = {*taken, *toolbox.layers, *toolbox.concepts}
    type_name, namespace = type_of(name, all_taken), namespace_of(name, all_taken)
    rungs = _Rungs(toolbox, {type_name, namespace})
    top = rungs.spell(expression, is_top=True).replace(MARK, f"{namespace}::")
    lines = [f"namespace {'::'.join(HOME)} {{", ""]
    if rungs.lines:
        lines += [f"namespace {namespace} {{", *_aligned(rungs.lines)]
        lines += [f"}} // namespace {namespace}", ""]
    lines += [
        *_aligned([(f"using {type_name} = {top};", rungs.note(expression))]),
        "",
        f"static_assert(SizedHeap<{type_name}> && AlignedHeap<{type_name}>);",
        "",
        f"}} // namespace {'::'.join(HOME)}",
    ]
    return Written("\n".join(lines) + "\n", "::".join((*HOME, type_name)))


class _Rungs:
    """Gives every layer a line and a name; a mark stands before each name of a rung."""

    def __init__(self, toolbox: Toolbox, taken: set[str]) -> None:
        self.lines: list[tuple[str, str]] = []
        self._toolbox = toolbox
        self._names: dict[tuple[Expression, str], str] = {}
        self._taken = taken | set(toolbox.layers) | set(toolbox.concepts)

    def note(self, expression: Expression) -> str:
        layer = self._toolbox.find(expression.name)
        return expression.note or (layer.caption if layer else "")

    def spell(self, expression: Expression, *, is_top: bool = False) -> str:
        """The expression with the names of its rungs in it; writes the lines that it needs."""
        if not expression.arguments and (expression.rung == "" or is_top):
            return expression.name
        known = self._names.get((expression, expression.rung))
        if known is not None:
            return MARK + known
        arguments = [self.spell(each) for each in expression.arguments]
        spelled = f"{expression.name}<{', '.join(arguments)}>" if arguments else expression.name
        layer = self._toolbox.find(expression.name)
        if is_top or not self._deserves_a_rung(expression, layer):
            return spelled
        name = self._name_for(expression, layer)
        self._names[expression, expression.rung] = name
        plain = spelled.replace(MARK, "")
        self.lines.append((f"using {name} = {plain};", self.note(expression)))
        return MARK + name

    @staticmethod
    def _deserves_a_rung(expression: Expression, layer: Layer | None) -> bool:
        is_heap = layer is not None and layer.is_heap and bool(expression.arguments)
        is_deep = any(each.arguments for each in expression.arguments)
        return bool(expression.rung) or is_heap or (layer is not None and is_deep)

    def _name_for(self, expression: Expression, layer: Layer | None) -> str:
        wanted = expression.rung or expression.name.rpartition("::")[2].removesuffix("Heap")
        if not expression.rung and layer is not None and not layer.is_heap:
            wanted = "Classes" if layer.category == "sizeclass" else f"{wanted}Policy"
        if wanted in self._taken and wanted in self._toolbox.layers:
            wanted += "Rung"
        name, number = wanted, 1
        while name in self._taken:
            number += 1
            name = f"{wanted}{number}"
        self._taken.add(name)
        return name


def _aligned(lines: list[tuple[str, str]]) -> list[str]:
    """Comments behind their lines, in one column where they fit, else above."""
    beside = [code for code, note in lines if len(code) + 4 + len(note) <= WIDTH]
    column = max((len(code) for code in beside), default=0)
    result = []
    for code, note in lines:
        if not note:
            result.append(code)
        elif len(code) <= column and column + 4 + len(note) <= WIDTH:
            result.append(f"{code:<{column}} // {note}")
        elif len(code) + 4 + len(note) <= WIDTH:
            result.append(f"{code} // {note}")
        else:
            result += [f"// {note}", code]
    return result
