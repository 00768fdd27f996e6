# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Questions about a stack, put to the compiler as numbered assertions.

Each rung is tried on the rung below in a context in which a misfit is no compile error. A dummy
type replaces a rung that does not fit, so the rungs above it do not fit either. So the lowest rung
that fails is the one that is wrong.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count

from heapwright.artefacts.composition.expression import Expression
from heapwright.artefacts.composition.layers import Layer, Toolbox, split_list
from heapwright.compose.compiler import MARK, Answer, Compiler
from heapwright.compose.stack import Way, places

HEAD = """#include <heapwright/heap.hpp>
#include <concepts>
#include <cstddef>
#include <type_traits>
{includes}
namespace heapwright::allocators::question {{
struct None {{}};
"""
TAIL = "}\n"


@dataclass(frozen=True, slots=True)
class Failure:
    """The lowest rung that does not fit."""

    path: Way
    layer: Layer
    parameter: int | None
    """The parameter that breaks its constraint, if known."""
    concept: str
    """The concept that is not met, or the condition as it is written."""


class Questions:
    """Asks a compiler about expressions in which all aliases are resolved."""

    def __init__(self, compiler: Compiler, toolbox: Toolbox, includes: str = "") -> None:
        """`includes` are lines for a header of the user's own."""
        self._compiler = compiler
        self._toolbox = toolbox
        self._includes = includes

    def misfit(self, expression: Expression) -> Failure | Answer | None:
        """The lowest rung that does not fit; None if all do. The message of the compiler if another
        error hides the answer."""
        text = _Text(self._toolbox)
        text.add(expression)
        answer = self._ask(text)
        if not answer.only_assertions and not answer.valid:
            return answer
        return self._lowest(text, answer)

    @staticmethod
    def _lowest(text: "_Text", answer: Answer) -> Failure | None:
        for number, (path, layer) in text.rungs.items():
            if str(number) in answer.failed:
                for mark, (parameter, concept) in text.reasons[number].items():
                    if mark in answer.failed:
                        return Failure(path, layer, parameter, concept)
                return Failure(path, layer, None, "")
        return None

    def survey(
        self, expression: Expression, wanted: Mapping[str, str]
    ) -> frozenset[str] | Failure | Answer:
        """Which of the conditions hold of the expression, called `H` in them. Or the lowest rung
        that does not fit. Or the compiler's message, if it finds something else wrong.
        """
        text = _Text(self._toolbox)
        top = text.add(expression)
        for name, condition in wanted.items():
            text.lines.append(f"template <class H> concept Is_{name} = {condition};")
            text.ask(f"Is_{name}<{top}>", name)
        answer = self._ask(text)
        if not answer.only_assertions and not answer.valid:
            return answer
        return self._lowest(text, answer) or frozenset(wanted) - answer.failed

    def pages(self, expression: Expression) -> str:
        """All that the compiler says of an expression as it is written."""
        return self._compiler.ask(
            HEAD.format(includes=self._includes)
            + f"using Composed = {expression};\nstatic_assert(sizeof(Composed) > 0);\n{TAIL}"
        ).pages

    def breaks(self, expression: Expression) -> Way | None:
        """The lowest rung whose own text does not compile on what is below it."""
        paths = [each.path for each in places(expression, self._toolbox) if each.layer is not None]
        low, high = 0, len(paths)  # what is below `low` compiles, what is at `high` does not
        while low < high:
            middle = (low + high) // 2
            if self._compiles(expression, paths[: middle + 1]):
                low = middle + 1
            else:
                high = middle
        return paths[low] if low < len(paths) else None

    def _compiles(self, expression: Expression, upto: list[Way]) -> bool:
        text = _Text(self._toolbox)
        text.add(expression, only=frozenset(upto), whole=True)
        answer = self._ask(text)
        return answer.valid or answer.only_assertions

    def _ask(self, text: "_Text") -> Answer:
        return self._compiler.ask(HEAD.format(includes=self._includes) + str(text) + TAIL)


class _Text:
    """The rungs of an expression as text, from the lowest up, and the questions about each."""

    def __init__(self, toolbox: Toolbox) -> None:
        self.lines: list[str] = []
        self.rungs: dict[int, tuple[Way, Layer]] = {}
        self.reasons: dict[int, dict[str, tuple[int | None, str]]] = {}
        self._toolbox = toolbox
        self._numbers = count()

    def __str__(self) -> str:
        return "\n".join(self.lines) + "\n"

    def add(
        self,
        expression: Expression,
        path: Way = (),
        only: frozenset[Way] | None = None,
        whole: bool = False,
    ) -> str:
        """Write down a tree and what to ask of it; the text that names its top.

        `only` leaves out all rungs but these; `whole` asks for the size of each, for which the
        compiler has to read its class."""
        names = [
            self.add(each, (*path, index), only, whole)
            for index, each in enumerate(expression.arguments)
        ]
        spelled = f"{expression.name}<{', '.join(names)}>" if names else expression.name
        layer = self._toolbox.find(expression.name)
        if layer is None or (only is not None and path not in only):
            return spelled
        number = next(self._numbers)
        self.rungs[number] = (path, layer)
        name = f"R{number}"
        if layer.heaps and len(names) == len(layer.parameters):
            self._ask_for_reasons(number, layer, names)
            self._try(number, layer, names)
        elif expression.arguments or layer.is_heap:
            self.lines.append(f"using {name} = {spelled};")
        else:
            return spelled
        if whole:
            self.lines.append(f"static_assert(sizeof({name}) > 0);")
        return name

    def ask(self, condition: str, mark: str) -> None:
        """Ask whether a condition holds. By way of a constant, because a compiler explains at
        length why a concept does not hold. Parts of that text look like errors.
        """
        self.lines.append(f"constexpr bool holds_{mark.replace('.', '_')} = {condition};")
        self.lines.append(f'static_assert(holds_{mark.replace(".", "_")}, "{MARK}{mark}");')

    def _try(self, number: int, layer: Layer, names: list[str]) -> None:
        """The rung itself, or `None` where it does not fit."""
        own = [f"H{index}" if index in layer.heaps else each for index, each in enumerate(names)]
        classes = ", ".join(f"class H{index}" for index in layer.heaps)
        heaps = ", ".join(f"H{index}" for index in layer.heaps)
        given = ", ".join(names[index] for index in layer.heaps)
        spelled = f"{layer.name}<{', '.join(own)}>"
        self.lines += [
            f"template <{classes}> struct Rung{number} {{ using type = None; }};",
            f"template <{classes}> requires requires {{ typename {spelled}; }}",
            f"struct Rung{number}<{heaps}> {{ using type = {spelled}; }};",
            f"using R{number} = Rung{number}<{given}>::type;",
        ]
        self.ask(f"!std::same_as<R{number}, None>", str(number))

    def _ask_for_reasons(self, number: int, layer: Layer, names: list[str]) -> None:
        reasons = self.reasons.setdefault(number, {})
        for index, parameter in enumerate(layer.parameters):
            if parameter.concept in self._toolbox.concepts:
                mark = f"{number}.p{index}"
                reasons[mark] = (index, parameter.concept)
                self.ask(f"{parameter.concept}<{names[index]}>", mark)
        plain = ", ".join(
            f"class {each.name}"
            if each.concept in self._toolbox.concepts or each.is_heap
            else f"{each.kind} {each.name}"
            for each in layer.parameters
        )
        for index, condition in enumerate(split_list(layer.requires, "&&")):
            mark = f"{number}.r{index}"
            reasons[mark] = (_parameter_of(condition, layer), condition)
            self.lines.append(f"template <{plain}> concept Asks{number}_{index} = {condition};")
            self.ask(f"Asks{number}_{index}<{', '.join(names)}>", mark)


def _parameter_of(condition: str, layer: Layer) -> int | None:
    """The parameter that a condition of the form `Concept<Parameter>` speaks of."""
    for index, parameter in enumerate(layer.parameters):
        if condition.endswith(f"<{parameter.name}>"):
            return index
    return None
