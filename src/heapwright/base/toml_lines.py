# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""On which line of a TOML text each of its keys and array elements stands.

The standard reader keeps no positions. This one keeps nothing else: it walks over a text that the
standard reader has accepted, and so need not find mistakes, only places. A place is found by the
path to it, as in ("factors", "threads", "levels", 2). One pass, linear in the text.
"""

import re
import tomllib
from collections.abc import Sequence

Path = tuple[str | int, ...]

BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
BARE = re.compile(r"[A-Za-z0-9_-]+")
STRING = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}(?!")'
    r"|'''.*?'{3,5}(?!')"
    r'|"(?:\\.|[^"\\])*"'
    r"|'[^']*'",
    re.DOTALL,
)
PLAIN = re.compile(r"[^,\]}\n#]+")
"""A number, a date, true or false: no comma, bracket or comment is in one."""


class TomlLines:
    """The lines of one text."""

    def __init__(self, text: str) -> None:
        """`text` must be what `tomllib.loads` accepts."""
        self._text = text
        self._at = 0
        self._line = 1
        self._counted = 0
        self._lines: dict[Path, int] = {}
        self._lengths: dict[Path, int] = {}
        """Elements so far, of the arrays of tables."""
        self._document()

    def of(self, path: Sequence[str | int]) -> int:
        """The line of what `path` leads to, or of the nearest thing around it that is there."""
        return self.found(path)[1]

    def found(self, path: Sequence[str | int]) -> tuple[int, int]:
        """How many steps of `path` are there, and the line of the last of them."""
        for length in range(len(path), 0, -1):
            line = self._lines.get(tuple(path[:length]))
            if line is not None:
                return length, line
        return 0, 1

    def _document(self) -> None:
        table: Path = ()
        while self._skip():
            if self._text.startswith("[[", self._at):
                table = self._array_header()
            elif self._text[self._at] == "[":
                table = self._header(1)
            else:
                self._pair(table)

    def _array_header(self) -> Path:
        path = self._header(2)
        place = self._lengths.get(path, 0)
        self._lengths[path] = place + 1
        self._mark((*path, place))
        return (*path, place)

    def _header(self, brackets: int) -> Path:
        self._at += brackets
        path: Path = ()
        for key in self._key():
            if path in self._lengths:
                path = (*path, self._lengths[path] - 1)
            path = (*path, key)
            self._mark(path)
        if brackets == 1 and path in self._lengths:
            path = (*path, self._lengths[path] - 1)
        self._at += brackets
        return path

    def _pair(self, table: Path) -> None:
        path = table
        for key in self._key():
            path = (*path, key)
            self._mark(path)
        self._at += 1  # the equals sign
        self._value(path)

    def _key(self) -> list[str]:
        """A key with its dots, up to the sign behind it."""
        parts: list[str] = []
        while True:
            self._skip()
            match = BARE.match(self._text, self._at)
            if match is None:
                match = STRING.match(self._text, self._at)
            if match is None:
                return parts
            self._at = match.end()
            parts.append(_unquoted(match[0]))
            self._skip()
            if self._text[self._at] != ".":
                return parts
            self._at += 1

    def _value(self, path: Path) -> None:
        self._skip()
        sign = self._text[self._at]
        if sign == "[":
            self._members(path, "]")
        elif sign == "{":
            self._members(path, "}")
        else:
            match = STRING.match(self._text, self._at) or PLAIN.match(self._text, self._at)
            self._at = match.end() if match else self._at + 1

    def _members(self, path: Path, closing: str) -> None:
        """Of an array or an inline table."""
        self._at += 1
        place = 0
        while self._skip() and self._text[self._at] != closing:
            if closing == "}":
                self._pair(path)
            else:
                self._mark((*path, place))
                self._value((*path, place))
                place += 1
            self._skip()
            self._at += self._text.startswith(",", self._at)
        self._at += 1

    def _skip(self) -> bool:
        """Over blanks and comments; whether something follows."""
        match = BLANK.match(self._text, self._at)
        self._at = match.end() if match else self._at
        return self._at < len(self._text)

    def _mark(self, path: Path) -> None:
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        self._lines.setdefault(path, self._line)


def _unquoted(key: str) -> str:
    if key[0] in "\"'":
        (key,) = tomllib.loads(f"{key} = 0")
    return key
