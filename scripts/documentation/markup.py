# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Small pieces of Markdown."""

from collections.abc import Iterable, Sequence


def cell(text: str) -> str:
    """Text that is valid in a cell of a table."""
    return " ".join(text.replace("|", "\\|").split())


def plain(text: str) -> str:
    """Text in which nothing counts as HTML."""
    return text.replace("<", "&lt;").replace(">", "&gt;")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; empty if there is no row."""
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    if not lines:
        return ""
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *lines]) + "\n"


def fenced(code: str, language: str = "") -> str:
    """A block of code."""
    return f"```{language}\n{code.rstrip()}\n```\n"
