# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A page for each document and file format, from its JSON Schema."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from documentation.markup import cell, plain, table
from heapwright.artefacts.schemas import MODULES, schema_text

Schema = Mapping[str, Any]
LISTED = re.compile(
    r"^\| `(?P<name>[\w-]+)` \| (?P<what>.+?) \| \[[^\]]+\]\((?P<page>[^)]+)\) \|$", re.M
)


def format_pages(docs: Path) -> dict[str, str]:
    """A page and the schema itself for each format, and an index."""
    pages: dict[str, str] = {}
    rows = []
    listed = (docs / "reference" / "schemas.md").read_text("utf-8")
    manuals = {match["name"]: match for match in LISTED.finditer(listed)}
    for name in sorted(MODULES):
        text = schema_text(name)
        what, page = manuals[name]["what"], manuals[name]["page"]
        pages[f"reference/formats/{name}.schema.json"] = text
        pages[f"reference/formats/{name}.md"] = _page(name, json.loads(text), what, f"../{page}")
        rows.append((f"[{name}]({name}.md)", what))
    pages["reference/formats/README.md"] = (
        "# Formats\n\nThe fields of all documents that heapwright writes and of all files that it "
        "reads, from their JSON Schemas.\n\n" + table(("format", "what it is"), rows)
    )
    return pages


def _page(name: str, schema: Schema, what: str, manual: str) -> str:
    parts = [
        f"# Format: {name}\n",
        f"{what[0].upper()}{what[1:]}. [The manual page]({manual}) explains the figures.\n",
        f"The JSON Schema is [`{name}.schema.json`]({name}.schema.json).\n",
        "## The document\n",
        _fields(schema),
    ]
    for part, definition in sorted(schema.get("$defs", {}).items()):
        parts += [f"## {part}\n", _said(definition) + "\n", _fields(definition)]
        if "enum" in definition:
            parts.append("One of " + ", ".join(f"`{each}`" for each in definition["enum"]) + ".\n")
    return "\n".join(part for part in parts if part.strip())


def _fields(schema: Schema) -> str:
    required = schema.get("required", [])
    rows = (
        (f"`{name}`", _type(field) + ("" if name in required else "; optional"), _said(field))
        for name, field in schema.get("properties", {}).items()
    )
    return table(("field", "type", "meaning"), rows)


def _said(schema: Schema) -> str:
    return cell(plain(str(schema.get("description", ""))))


def _type(schema: Schema) -> str:
    return ", or ".join(dict.fromkeys(_types(schema)))


def _types(schema: Schema) -> Iterator[str]:
    for choice in (*schema.get("anyOf", ()), *schema.get("oneOf", ()), *schema.get("allOf", ())):
        yield from _types(choice)
    if "$ref" in schema:
        name = str(schema["$ref"]).rpartition("/")[2]
        yield f"[{name}](#{name.lower()})"
    elif "enum" in schema:
        yield ", ".join(f"`{each}`" for each in schema["enum"])
    elif "const" in schema:
        yield f"`{schema['const']}`"
    elif schema.get("type") == "array":
        yield f"list of {_type(schema.get('items', {})) or 'values'}"
    elif schema.get("type") == "object":
        values = schema.get("additionalProperties")
        yield f"table of {_type(values)}" if isinstance(values, dict) and values else "table"
    elif "type" in schema:
        yield str(schema["type"])
