# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A sentence as a header in the style of include/heapwright/allocators."""

import hashlib
import textwrap
from collections.abc import Iterator, Sequence

from heapwright.tailor.grammar import Sentence, Step

WIDTH = 100
INDENT = "    "


def space_of(name: str) -> str:
    """The namespace of an allocator."""
    return name.replace("-", "_")


def type_of(name: str) -> str:
    """The type of an allocator, as its entry names it."""
    return f"heapwright::allocators::{_short(name)}"


def _short(name: str) -> str:
    return "".join(part.capitalize() for part in space_of(name).split("_"))


def header_of(sentence: Sentence, name: str, head: Sequence[str]) -> str:
    """The whole header. `head` are the paragraphs of its opening comment."""
    lines = ["// Written by heapwright tailor.", "//"]
    for number, paragraph in enumerate(head):
        lines += ["//"] if number else []
        lines += _comment(paragraph)
    space, short = space_of(name), _short(name)
    lines += ["#pragma once", "", "#include <heapwright/heap.hpp>", ""]
    lines += ["namespace heapwright::allocators {", "", f"namespace {space} {{"]
    for step in sentence.steps():
        lines += _step(step, sentence.reasons.get(step.slot, ""))
    lines += [f"}} // namespace {space}", ""]
    lines += [f"using {short} = ANSIWrapper<{space}::Top>; // the C rules", ""]
    held = f"SizedHeap<{short}> && AlignedHeap<{short}> && ForkableHeap<{short}>"
    lines += [*_code(f"static_assert({held});"), "", "} // namespace heapwright::allocators"]
    return "\n".join(lines) + "\n"


def digest_of(sentence: Sentence) -> str:
    """The same for sentences that compile to the same code."""
    text = "\n".join(f"{step.keyword} {step.name} = {step.type}" for step in sentence.steps())
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _step(step: Step, reason: str) -> Iterator[str]:
    words = ": ".join(filter(None, (step.caption, reason)))
    if words:
        yield from _comment(words[0].upper() + words[1:] + ".")
    if step.keyword == "struct":
        yield from f"struct {step.name} {step.type};".splitlines()
    else:
        yield from _code(f"{step.keyword} {step.name} = {step.type};")


def _comment(text: str) -> list[str]:
    return [f"// {line}" for line in textwrap.wrap(text, WIDTH - 3)]


def _code(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, subsequent_indent=INDENT, break_long_words=False)
