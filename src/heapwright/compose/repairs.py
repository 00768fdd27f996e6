# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What an edit leaves wanting, brought along: a provider from below, classes that are large enough.

A rung whose requirement is not met gets further rungs below it. They are the fewest rungs of its
own example that meet the requirement. An edit may also change the heap under size classes. Then the
smallest object of that heap is measured, by running it. Classes below it would never find an
object, so they are raised with `AtLeast`.
"""

from dataclasses import dataclass

from heapwright.artefacts.composition.expression import Expression
from heapwright.artefacts.composition.layers import Toolbox
from heapwright.base.errors import HeapwrightError
from heapwright.compose.compiler import Answer, Compiler
from heapwright.compose.diagnosis import explain, why
from heapwright.compose.edits import chain_of, rebased
from heapwright.compose.questions import Failure, Questions
from heapwright.compose.stack import Way, at, places, put

MOST = 8
CLASSES = "SizeClasses"
BLOCKS = "BlockHeap"
"""What is under classes that are carved out of whole blocks: its objects are no one's objects."""
MEASURE = """#include <heapwright/heap.hpp>
{includes}
#include <cstdio>
namespace heapwright::allocators {{}}
using namespace heapwright;
using namespace heapwright::allocators;
static {heap} heap;
int main() {{
    using Classes = {classes};
    void* const object = heap.malloc(1);
    if (object == nullptr) {{ return 1; }}
    std::printf("%zu %zu\\n", heap.getSize(object), Classes::sizeOf(Classes::classFor(1)));
}}
"""


@dataclass(frozen=True, slots=True)
class Repaired:
    """A tree in which every need is met, and what was done for that, one line each."""

    expression: Expression
    notes: tuple[str, ...]


def meet_needs(
    top: Expression, questions: Questions, toolbox: Toolbox, removed: frozenset[str] = frozenset()
) -> Repaired:
    """Bring along what rungs need. `removed` are layers that the user does not want.

    Raises HeapwrightError with the one line that matters.
    """
    notes: list[str] = []
    for _ in range(MOST):
        failure = questions.misfit(top)
        if failure is None:
            return Repaired(top, tuple(notes))
        if isinstance(failure, Answer):
            raise HeapwrightError(why(top, questions, toolbox, failure))
        repaired = _repaired(failure, top, questions, toolbox, removed)
        if repaired is None:
            raise HeapwrightError(explain(failure, top, toolbox))
        top, brought = repaired
        concept = failure.concept.partition("<")[0]
        notes.append(f"{' and '.join(brought)} brought along: {failure.layer.name} needs {concept}")
    raise HeapwrightError("the edits leave a stack in which one need follows another")


def _repaired(
    failure: Failure,
    top: Expression,
    questions: Questions,
    toolbox: Toolbox,
    removed: frozenset[str],
) -> tuple[Expression, tuple[str, ...]] | None:
    """The tree with the fewest rungs of the example that meet the need."""
    layer = failure.layer
    parameter = layer.heaps[-1] if failure.parameter is None else failure.parameter
    if layer.example is None or parameter not in layer.heaps:
        return None
    way = (*failure.path, parameter)
    chain = chain_of(layer.example.arguments[parameter], toolbox)
    for length in range(1, len(chain) + 1):
        names = tuple(rung.name for rung in chain[:length])
        if removed.intersection(names):
            return None
        candidate = put(top, way, rebased(chain[:length], at(top, way), toolbox))
        again = questions.misfit(at(candidate, failure.path))
        if again is None:
            return candidate, names
    return None


def raise_classes(
    top: Expression, before: Expression, compiler: Compiler, toolbox: Toolbox, includes: str = ""
) -> Repaired:
    """Raise the size classes over heaps whose smallest object is larger than the smallest class.

    Only where what is below them is not as it was `before`.
    """
    notes: list[str] = []
    old = {place.expression for place in places(before, toolbox)}
    for place in list(places(top, toolbox)):
        layer = place.layer
        if layer is None or not layer.heaps or at(top, place.path) in old:
            continue
        if layer.parameters[layer.heaps[-1]].concept == BLOCKS:
            continue
        for index, parameter in enumerate(layer.parameters):
            if parameter.concept == CLASSES:
                top, note = _raised(
                    top, (*place.path, index), (*place.path, layer.heaps[-1]), compiler, includes
                )
                notes += note
    return Repaired(top, tuple(notes))


def _raised(
    top: Expression, classes: Way, heap: Way, compiler: Compiler, includes: str
) -> tuple[Expression, list[str]]:
    text = MEASURE.format(includes=includes, heap=at(top, heap), classes=at(top, classes))
    figures = compiler.output_of(text).split()
    if len(figures) != 2 or not all(figure.isdecimal() for figure in figures):
        return top, []
    smallest, first = map(int, figures)
    if smallest <= first:
        return top, []
    old = at(top, classes)
    new = Expression("AtLeast", (Expression(str(smallest)), old), old.rung)
    note = f"{new}, because the smallest object of {at(top, heap).name} has {smallest} bytes"
    return put(top, classes, new), [note]
