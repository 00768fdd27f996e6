# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The blocks of code on a page, and what the comments above them say.

<!-- file: NAME -->         the block is the file NAME, which the reader writes
<!-- prints: TEXT -->       what the block prints contains TEXT
<!-- not run: REASON -->    the block is not run
<!-- not compiled: REASON -->
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

BLOCK = re.compile(
    r"^(?P<tags>(?:<!-- [a-z ]+: .*? -->\n)*)```(?P<language>\w+)\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
TAG = re.compile(r"<!-- ([a-z ]+): (.*?) -->")
SHELL = ("sh", "console")


@dataclass(frozen=True, slots=True)
class Block:
    """One block of code."""

    line: int
    language: str
    code: str
    tags: dict[str, str]

    @property
    def runs(self) -> bool:
        return self.language in SHELL and "not run" not in self.tags

    @property
    def compiles(self) -> bool:
        """Whether it is a source that stands on its own, which no command of the page compiles."""
        source = self.language in ("c", "cpp") and "#include" in self.code
        return source and self.tags.keys().isdisjoint({"not compiled", "file"})

    @property
    def commands(self) -> str:
        """What a reader types: without the prompts and the output of a console."""
        if self.language != "console":
            return self.code
        lines: list[str] = []
        for line in self.code.splitlines():
            if line.startswith("$ "):
                lines.append(line.removeprefix("$ "))
            elif lines and lines[-1].endswith("\\"):
                lines.append(line)
        return "\n".join(lines) + "\n"


def blocks_of(page: Path) -> Iterator[Block]:
    """The blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        line = text.count("\n", 0, match.start("language")) + 1
        yield Block(line, match["language"], match["code"], dict(TAG.findall(match["tags"])))
