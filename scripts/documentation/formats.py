# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A page for each document and file format, from its JSON Schema."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from documentation.markup import cell, plain, table
from heapwright.artefacts.schemas import MODULES, schema_text

Schema = Mapping[str, Any]


def format_pages() -> dict[str, str]:
    """A page and the schema itself for each format, and an index."""
    pages: dict[str, str] = {}
    rows = []
    for name in sorted(MODULES):
        text = schema_text(name)
        schema = json.loads(text)
        pages[f"reference/formats/{name}.schema.json"] = text
        pages[f"reference/formats/{name}.md"] = _page(name, schema)
        rows.append((f"[{name}]({name}.md)", _said(schema)))
    pages["reference/formats/README.md"] = (
        "# Formats\n\nThe fields of all documents that heapwright writes and of all files that it "
        "reads, from their JSON Schemas. [JSON Schemas](../schemas.md) has the verbs that write "
        "them.\n\n" + table(("format", "what it is"), rows)
    )
    return pages


def _page(name: str, schema: Schema) -> str:
    parts = [
        f"# Format: {name}\n",
        _said(schema) + "\n",
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
        (f"`{name}`", _type(field), "yes" if name in required else "no", _said(field))
        for name, field in schema.get("properties", {}).items()
    )
    return table(("field", "type", "required", "meaning"), rows)


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
