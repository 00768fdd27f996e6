# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Pages of the allocators, from the catalogue and the headers of the compositions."""

import tomllib
from pathlib import Path
from typing import Any

from documentation.comments import head_comment
from documentation.markup import cell, fenced, table


def allocator_pages(root: Path) -> dict[str, str]:
    """A page for each composition, and an index of all allocators."""
    catalogue = tomllib.loads((root / "catalogue" / "allocators.toml").read_text("utf-8"))
    pages = {
        f"reference/allocators/{each['name']}.md": _composition(each, root / "include")
        for each in catalogue["composed"]
    }
    composed = [
        (f"[{each['name']}]({each['name']}.md)", cell(each["caption"]))
        for each in catalogue["composed"]
    ]
    pages["reference/allocators/README.md"] = "\n".join(
        [
            "# Allocators\n",
            "All allocators of the registry `catalogue/allocators.toml`. "
            "[heapwright allocators](../allocators.md) lists those that work on a machine.\n",
            "## Compositions of this library\n",
            table(("name", "what it is"), composed),
            "## The C library\n",
            table(("name", "what it is", "environment"), map(_system, catalogue["system"])),
            "## Other allocators\n",
            table(("name", "what it is", "package"), map(_peer, catalogue["peer"])),
            "## Groups\n",
            "`-a` takes these names for several allocators.\n",
            table(
                ("name", "allocators"),
                ((f"`{name}`", ", ".join(names)) for name, names in catalogue["groups"].items()),
            ),
        ]
    )
    return pages


def _composition(entry: dict[str, Any], include: Path) -> str:
    text = (include / entry["header"]).read_text("utf-8")
    code = text[text.index("namespace heapwright") :]
    return (
        f"# {entry['name']}\n\n{entry['caption'][0].upper()}{entry['caption'][1:]}.\n\n"
        f"{head_comment(text)}\n"
        f"The type is `{entry['type']}`, from [`{entry['header']}`]"
        f"(../../sources/include/{entry['header']}.txt):\n\n{fenced(code, 'cpp')}"
    )


def _system(entry: dict[str, Any]) -> tuple[str, str, str]:
    setting = entry.get("environment", {})
    shown = ", ".join(f"`{cell(f'{name}={value}')}`" for name, value in setting.items())
    return f"`{entry['name']}`", cell(entry["caption"]), shown


def _peer(entry: dict[str, Any]) -> tuple[str, str, str]:
    return f"`{entry['name']}`", cell(entry["caption"]), entry.get("package", "") or "`make peers`"
