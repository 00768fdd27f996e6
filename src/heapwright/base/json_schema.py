# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The JSON Schema of a document as text."""

import json

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema_text_of(
    model: type[BaseModel], name: str, mode: JsonSchemaMode = "serialization"
) -> str:
    """The schema of documents that heapwright writes; with `mode` "validation", of those that users
    write."""
    schema = model.model_json_schema(mode=mode)
    schema["$schema"] = DIALECT
    schema["title"] = f"heapwright {name}"
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
