# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Adds the layers that a heap lacks to replace malloc, in the right order.

From the inside out: sizes that objects remember, the check of a free, any alignment, one thread at
a time, signal handlers, the C rules. A layer that exists already is not added twice. A check is not
put over a lock, because it would look at objects while others change them.
"""

from collections.abc import Sequence

from heapwright.artefacts.composition.expression import Expression
from heapwright.artefacts.composition.layers import Toolbox
from heapwright.base.errors import HeapwrightError
from heapwright.compose.stack import spine

POLICIES = {"LockedHeap": (Expression("FutexLock"),)}
HANDLERS = frozenset({"SignalSafeHeap", "HandlerSafeHeap"})
"""The layers that let signal handlers in; over one of them no other belongs."""
HEADER = "#include <preload/complete_allocator.hpp>"
NEEDED = {
    "alignment": ("requires { std::size_t{H::alignment}; }", "a constant alignment"),
    "malloc": (
        "requires(H heap) { { heap.malloc(std::size_t{1}) } -> std::same_as<void*>; }",
        "a public void* malloc(std::size_t)",
    ),
    "noexcept": (
        "requires(H heap) { requires noexcept(heap.malloc(std::size_t{1})); }",
        "a malloc that is noexcept",
    ),
    "free": (
        "requires(H heap, void* object) { { heap.free(object) } -> std::same_as<void>; }",
        "a public void free(void*)",
    ),
}
"""What the concept Heap asks for, part by part, with the words for it."""
WANTED = {
    **{fact: condition for fact, (condition, _) in NEEDED.items()},
    "heap": "Heap<H>",
    "sized": "SizedHeap<H>",
    "aligned": "AlignedHeap<H>",
    "tagged": "TaggedHeap<H>",
    "headerable": "requires { typename SizeHeap<H>; }",
    "checkable": "requires { typename CheckedHeap<H>; }",
    "shared": "ConcurrentHeap<H>",
    "complete": "preload::CompleteAllocator<H>",
}


def missing(
    expression: Expression, facts: frozenset[str], toolbox: Toolbox
) -> tuple[Expression, ...]:
    """The rungs to put on top, the lowest first and each without what is below it, going by the
    facts that `WANTED` asks for. Raises HeapwrightError for what is no heap.
    """
    if "heap" not in facts:
        raise HeapwrightError(
            f"{expression} is no heap: it lacks {_lacking(facts)}",
            "a composition ends in a layer; `heapwright compose --help` shows one",
        )
    if "complete" in facts:
        return ()
    present = {heap.name for heap in spine(expression, toolbox)}
    tagged, aligned = "tagged" in facts, "aligned" in facts
    checkable = "checkable" in facts
    names = []
    if ("sized" not in facts or not (tagged or aligned)) and "headerable" in facts:
        names.append("SizeHeap")
        tagged, aligned, checkable = True, False, True
    if checkable and not present & {"CheckedHeap", "LockedHeap", *HANDLERS}:
        names.append("CheckedHeap")
    if tagged and not aligned:
        names.append("AlignHeap")
    if "shared" not in facts and not present & {"LockedHeap", *HANDLERS}:
        names.append("LockedHeap")
    if not present & HANDLERS:
        names.append("SignalSafeHeap")
    names.append("ANSIWrapper")
    return tuple(Expression(name, POLICIES.get(name, ())) for name in names)


def _lacking(facts: frozenset[str]) -> str:
    words = [words for fact, (_, words) in NEEDED.items() if fact not in facts]
    return " and ".join(words) or "something that the concept Heap asks for"


def hides_sizes(rungs: Sequence[Expression], facts: frozenset[str]) -> bool:
    """Whether the heap has a getSize that a SizeHeap on top answers in its place."""
    return "sized" in facts and "SizeHeap" in [rung.name for rung in rungs]


def reasons(rungs: Sequence[Expression], facts: frozenset[str]) -> tuple[str, ...]:
    """Which rungs are put on top, the highest first, and why each one is."""
    if not rungs:
        return ()
    because = {
        "SizeHeap": "objects do not remember their size",
        "CheckedHeap": "objects have tags, so a wrong free can be found",
        "AlignHeap": "the heap honours no alignment but its own",
        "LockedHeap": "threads may not share the heap",
        "SignalSafeHeap": "a signal handler may interrupt the heap",
        "ANSIWrapper": "malloc(0), calloc, realloc and errno have the rules of C",
    }
    if hides_sizes(rungs, facts):
        because["SizeHeap"] = (
            "the heap has a getSize, but no memalign of its own. It has no tags before its "
            "objects, which AlignHeap needs. SizeHeap answers malloc_usable_size. The getSize of "
            "the heap is checked apart"
        )
    top_first = list(reversed(rungs))
    names = ", ".join(map(str, top_first))
    lines = (f"  {rung.name}: {because[rung.name]}" for rung in top_first)
    return (f"put on top to make it complete: {names}", *lines)


def entry_points(
    expression: Expression, offered: Sequence[str], toolbox: Toolbox
) -> tuple[str, ...]:
    """What the library of a composition offers besides malloc.

    That is what the allocator offered that it is made from. The notice of signal handlers is an
    exception. It is placed at the layer that requires it, and only there.
    """
    present = {heap.name for heap in spine(expression, toolbox)}
    told = ("signals",) if "HandlerSafeHeap" in present else ()
    return (*(each for each in offered if each != "signals"), *told)


def put_on(expression: Expression, rungs: Sequence[Expression]) -> Expression:
    """The expression with rungs on top."""
    for rung in rungs:
        expression = Expression(rung.name, (*rung.arguments, expression))
    return expression
