# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Prepares written pages for the site: their links, their lists, their order."""

import os
import re
from collections.abc import Callable, Container, Iterator
from pathlib import Path

from documentation.markup import table

LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\]]*)\]\((?P<target>[^)\s#]+)(?P<anchor>#[^)\s]*)?\)")
PATH = re.compile(r"(?<![\w/`(])docs/([\w-]+/[\w-]+\.md)")
FENCE = re.compile(r"^\s*(```|~~~)")
ITEM = re.compile(r"^(?P<indent> *)(?:[-*]|\d+\.) ")
MERMAID = re.compile(
    r"^```mermaid\nstateDiagram-v2\n(?P<states>.*?)^```\n", re.MULTILINE | re.DOTALL
)
STATE = re.compile(r"^ *(\S+) --> (\S+?)(?:: (.*))?$", re.MULTILINE)
NEXT_TO_TEXT = re.compile(r"^(\||#|>|<!--|\s*$)")


def relink(text: str, origin: str, site: str, place: Callable[[str], str | None]) -> str:
    """The text with links as they hold on the site.

    `origin` is the path of the page in the repository, `site` its path on the site. `place` says
    for a path in the repository where it is on the site; None: it has no page, and the link becomes
    its path.
    """

    def changed(match: re.Match[str]) -> str:
        target = match["target"]
        if "://" in target or target.startswith("mailto:"):
            return match[0]
        path = os.path.normpath(Path(origin).parent / target)
        found = place(path)
        if found is None:
            inner = match["text"].strip("`")
            return f"`{path}`" if inner == path else f"{match['text']} (`{path}`)"
        relative = os.path.relpath(found, Path(site).parent)
        return f"{match['image']}[{match['text']}]({relative}{match['anchor'] or ''})"

    return "\n".join(
        line if code else LINK.sub(changed, line) for line, code in with_code(text.split("\n"))
    )


def with_links_to_pages(text: str, site: str, pages: Container[str]) -> str:
    """The text of comments with links in the place of paths of pages (`docs/reference/x.md`)."""

    def linked(match: re.Match[str]) -> str:
        if match[1] not in pages:
            return match[0]
        return f"[{Path(match[1]).stem}]({os.path.relpath(match[1], Path(site).parent)})"

    return "\n".join(
        line if code else PATH.sub(linked, line) for line, code in with_code(text.split("\n"))
    )


def with_code(lines: list[str]) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it belongs to a block of code."""
    inside = ""
    for line in lines:
        fence = FENCE.match(line)
        yield line, bool(inside or fence)
        if fence and not inside:
            inside = fence[1]
        elif fence and fence[1] == inside:
            inside = ""


def with_lists(text: str) -> str:
    """The text with lists as Python's Markdown wants them: a blank line before, indents of four."""
    made: list[str] = []
    listed = False
    for line, code in with_code(text.split("\n")):
        item = ITEM.match(line)
        before = made[-1] if made else ""
        if not listed and item and not code and len(item["indent"]) < 2:
            if before.strip() and not NEXT_TO_TEXT.match(before):
                made.append("")
            listed = True
        elif (
            listed and line.strip() and not line.startswith(" ") and not item and not before.strip()
        ):
            listed = False
        spaces = len(line) - len(line.lstrip(" "))
        if listed and spaces:
            made.append(" " * (4 * ((spaces + 1) // 2 if spaces != 3 else 1)) + line.lstrip(" "))
        else:
            made.append(line)
    return "\n".join(made)


def with_states(text: str) -> str:
    """The text with state diagrams of Mermaid as tables, because Mermaid needs a network."""

    def table_of(match: re.Match[str]) -> str:
        rows = STATE.findall(match["states"])
        return table(
            ("from", "event", "to"), ([_state(a), b or "-", _state(c)] for a, c, b in rows)
        )

    return MERMAID.sub(table_of, text)


def _state(name: str) -> str:
    return "*start or end*" if name == "[*]" else name


def title_of(text: str) -> str:
    """The title of a page."""
    found = re.search(r"^# (.+)$", text, re.MULTILINE)
    return found[1].replace("`", "") if found else ""


def order_of(index: str) -> list[tuple[str, list[str]]]:
    """What an index page lists: for each heading its links to pages, in order."""
    groups: list[tuple[str, list[str]]] = [("", [])]
    for line in index.split("\n"):
        if line.startswith("## "):
            groups.append((line.removeprefix("## "), []))
        for match in LINK.finditer(line):
            target = match["target"]
            if target.endswith(".md") and "://" not in target and not target.startswith(".."):
                groups[-1][1].append(target)
    return [(heading, links) for heading, links in groups if links]


def read(path: Path) -> str:
    """A page without the lines of its licence."""
    text = path.read_text("utf-8")
    return re.sub(r"\A(<!-- SPDX-[^\n]*-->\n)+\n?", "", text)
