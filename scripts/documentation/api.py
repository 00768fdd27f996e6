# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Pages of the C and the C++ interface, from the comments of the headers."""

from collections.abc import Iterable
from pathlib import Path

from documentation.comments import (
    Declaration,
    c_declarations,
    cpp_declarations,
    head_comment,
    headers,
)
from documentation.markup import fenced, table

CPP = {
    "core": "The contract of a heap: concepts, traits, addresses",
    "adaptor": "Heaps as memory resources and standard allocators",
    "sync": "Locks and shared variables",
    "sizeclass": "Size classes and limits",
}
"""Folders of include/heapwright with headers that programs include by name."""


def c_pages(include: Path) -> dict[str, str]:
    """A page for each C header, and their index."""
    pages: dict[str, str] = {}
    rows = []
    for path, text in headers(include / "heapwright" / "c", "*.h"):
        intro = head_comment(text)
        body = _declared(c_declarations(text), "c")
        pages[f"reference/c/{path.stem}.md"] = (
            f"# heapwright/c/{path.name}\n\n{fenced(f'#include <heapwright/c/{path.name}>', 'c')}\n"
            f"{intro}\n{body}"
        )
        rows.append((f"[{path.name}]({path.stem}.md)", first_sentence(intro)))
    pages["reference/c/README.md"] = (
        "# C interface\n\nEach header stands on its own. The texts are the comments of the "
        "headers. [A guide](../../how-to/use-from-c.md) shows their use.\n\n"
        + table(("header", "what it is for"), rows)
    )
    return pages


def cpp_pages(include: Path) -> dict[str, str]:
    """A page for each folder of C++ headers that programs include by name, and their index."""
    pages: dict[str, str] = {}
    rows = []
    for folder, title in CPP.items():
        parts = [f"# heapwright/{folder}\n\n{title}.\n"]
        for path, text in headers(include / "heapwright" / folder, "*.hpp"):
            name = path.relative_to(include)
            parts.append(f"## {path.name}\n\n{fenced(f'#include <{name}>', 'cpp')}")
            parts.append(head_comment(text))
            parts.append(_declared(cpp_declarations(text), "cpp", "###"))
        pages[f"reference/cpp/{folder}.md"] = "\n".join(parts)
        rows.append((f"[{folder}]({folder}.md)", title))
    pages["reference/cpp/README.md"] = (
        "# C++ interface\n\n`#include <heapwright/heap.hpp>` brings the contract and all "
        "[layers](../layers/README.md). The texts are the comments of the headers. "
        "[Using heaps from C++](../../how-to/use-from-cpp.md) shows their use.\n\n"
        + table(("folder", "what it is for"), rows)
    )
    return pages


def _declared(found: Iterable[Declaration], language: str, level: str = "##") -> str:
    return "\n".join(
        f"{level} {each.name}\n\n{fenced(each.code, language)}\n{each.text}" for each in found
    )


def first_sentence(text: str) -> str:
    """The first sentence of a page, in one line."""
    paragraph = " ".join(text.strip().split("\n\n")[0].split())
    end = paragraph.find(". ")
    return paragraph if end < 0 else paragraph[: end + 1]
