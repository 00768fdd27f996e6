# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Type expressions as trees: `CoalesceHeap<64 * KiB, CoalesceableHeap<MmapHeap>>`.

Only what compositions are written with is understood: a name, perhaps qualified, perhaps with
arguments. Everything else (a number, `64 * KiB`, `sizeof(Node)`) is kept as it is written, as a
leaf; what it means is the compiler's business. A tree remembers the name and the comment of the
rung that it was written as. So a changed part can be written back in its author's words.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from heapwright.base.errors import HeapwrightError

TOKEN = re.compile(r"\s*(::|[A-Za-z_]\w*|[0-9][\w.']*|<<|<=|>=|\S)")
NAME = re.compile(r"(?:::)?[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*")
OPENING, CLOSING = "([{", ")]}"
DEEPEST = 100


@dataclass(frozen=True, slots=True)
class Expression:
    """A type, or a template argument that is no type; `rung` and `note` do not count in
    comparisons."""

    name: str
    arguments: tuple["Expression", ...] = ()
    rung: str = field(default="", compare=False)
    """The name that it was given where it was written."""
    note: str = field(default="", compare=False)
    """The comment beside that."""

    @property
    def is_named(self) -> bool:
        """Whether it is a name, with or without arguments, rather than a number or a sum."""
        return NAME.fullmatch(self.name) is not None

    def __str__(self) -> str:
        if not self.arguments:
            return self.name
        return f"{self.name}<{', '.join(map(str, self.arguments))}>"

    def walk(self) -> Iterator["Expression"]:
        """The tree, each expression before what it is made of."""
        yield self
        for argument in self.arguments:
            yield from argument.walk()

    def changed(self, change: Callable[["Expression"], "Expression"]) -> "Expression":
        """The tree with `change` made to every expression, those below first."""
        arguments = tuple(argument.changed(change) for argument in self.arguments)
        if any(new is not old for new, old in zip(arguments, self.arguments, strict=True)):
            return change(replace(self, arguments=arguments))
        return change(self)


def parse_expression(text: str) -> Expression:
    """Read one type expression. Raises HeapwrightError."""
    tokens = TOKEN.findall(text.strip())
    if not tokens:
        raise HeapwrightError("the type expression is empty")
    parser = _Parser(tokens, text.strip())
    expression = parser.argument()
    if parser.rest():
        raise parser.fail(f"{parser.rest()!r} is too much at its end")
    return expression


class _Parser:
    def __init__(self, tokens: list[str], text: str) -> None:
        self._tokens = tokens
        self._text = text
        self._at = 0
        self._depth = 0

    def fail(self, why: str) -> HeapwrightError:
        text = self._text if len(self._text) <= 200 else f"{self._text[:200]}…"
        return HeapwrightError(f"the type expression {text!r} cannot be read: {why}")

    def rest(self) -> str:
        return " ".join(self._tokens[self._at :])

    def argument(self) -> Expression:
        """What stands between two commas."""
        self._depth += 1
        if self._depth > DEEPEST:
            raise self.fail(f"it is more than {DEEPEST} levels deep")
        start = self._at
        name = self._name()
        if name and self._peek() in (",", ">", ""):
            result = Expression(name)
        elif name and self._peek() == "<":
            result = Expression(name, self._arguments())
            if self._peek() not in (",", ">", ""):
                result = self._text_from(start)
        else:
            result = self._text_from(start)
        self._depth -= 1
        return result

    def _name(self) -> str:
        name = self._take() if self._peek() == "::" else ""
        while NAME.fullmatch(self._peek()):
            name += self._take()
            if self._peek() != "::":
                return name
            name += self._take()
        return ""

    def _arguments(self) -> tuple[Expression, ...]:
        self._take()
        if self._peek() == ">":
            self._take()
            return ()
        arguments = [self.argument()]
        while self._peek() == ",":
            self._take()
            arguments.append(self.argument())
        if self._take() != ">":
            raise self.fail("a > is missing")
        return tuple(arguments)

    def _text_from(self, start: int) -> Expression:
        """What is no name with arguments, up to the comma or bracket that ends it."""
        depth = 0
        self._at = start
        while self._peek() and (depth or self._peek() not in (",", ">")):
            token = self._take()
            depth += (token in OPENING) - (token in CLOSING)
            if depth < 0:
                raise self.fail(f"{token} closes nothing")
        if depth:
            raise self.fail("a bracket is not closed")
        if self._at == start:
            raise self.fail("there is nothing where an argument should be")
        return Expression(_spaced(self._tokens[start : self._at]))

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _take(self) -> str:
        token = self._peek()
        self._at += 1
        return token


def _spaced(tokens: list[str]) -> str:
    """`64 * KiB` from its tokens: blanks around operators, none inside of brackets."""
    text = ""
    for token in tokens:
        tight = token in "()[],::" or text.endswith(("(", "[", "::", "{")) or not text
        text += token if tight else f" {token}"
    return text
