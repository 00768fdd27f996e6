# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Reads a JSON document of Heapwright, and says why another file is none.

A file may be a newer document, a document of another kind, or no document of Heapwright. A document
of the right kind and version that is not valid was changed or damaged.
"""

import json
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from heapwright import __version__
from heapwright.base.errors import HeapwrightError
from heapwright.base.paths import TRACE_MAGIC

VERSION, FORMAT = "schema_version", "format"
KINDS = (
    "each verb writes its document with --json (`heapwright compare --json FILE`). The documents "
    "are a comparison, a replay, a profile, an explanation, an analysis, an agreement, "
    "a taxonomy, drag, a long run. The results of a study are a folder"
)
Document = TypeVar("Document", bound=BaseModel)


def parsed(model: type[Document], text: str | bytes, path: Path, kind: str) -> Document:
    """The document; `kind` is what it is, as `a profile`. Raises HeapwrightError."""
    try:
        return model.model_validate_json(text)
    except ValidationError as error:
        why, hint = _reason(model, text, error, kind)
        raise HeapwrightError(f"{path} {why}", hint) from error


def _reason(
    model: type[BaseModel], text: str | bytes, error: ValidationError, kind: str
) -> tuple[str, str]:
    try:
        content = json.loads(text)
    except ValueError as wrong:
        return f"is not {kind}: {_why_not_json(text, wrong)}", KINDS
    if not isinstance(content, dict) or VERSION not in content:
        return f"is not {kind}: it is not a document of Heapwright", KINDS
    version, known = content[VERSION], _default(model, VERSION)
    own, found = _default(model, FORMAT), content.get(FORMAT)
    if found is not None and found != own:
        return f"is not {kind}: its format is {found!r}", KINDS
    if 2 * len(content.keys() & model.model_fields.keys()) < len(content):
        return f"is not {kind}: it is a document of another kind", KINDS
    if isinstance(version, int) and isinstance(known, int) and version != known:
        age = "newer" if version > known else "older"
        return (
            f"is {kind} of version {version}, which is {age} than this tool: Heapwright "
            f"{__version__} reads version {known}",
            f"use a{'n older' if version < known else ' newer'} Heapwright, or write it again",
        )
    first = error.errors(include_url=False)[0]
    where = ".".join(map(str, first["loc"])) or "the document"
    return (
        f"is {kind} that was changed or damaged: {where}: {first['msg']}",
        "write the document again",
    )


def _why_not_json(text: str | bytes, wrong: ValueError) -> str:
    if not isinstance(wrong, UnicodeDecodeError):
        return f"it is not JSON ({wrong})"
    return "it is a trace" if text[: len(TRACE_MAGIC)] == TRACE_MAGIC else "it is not text"


def refuse_document(path: Path, kind: str, hint: str) -> None:
    """Raise HeapwrightError if the file, which should be `kind`, is a JSON document instead."""
    try:
        with path.open("rb") as file:
            if file.read(1) != b"{":
                return
            file.seek(0)
            content = json.load(file)
    except (OSError, ValueError, RecursionError):
        return
    found = content.get(FORMAT) if VERSION in content else None
    why = "it is not a document of Heapwright" if found is None else f"its format is {found!r}"
    raise HeapwrightError(f"{path} is not {kind}: {why}", hint)


def _default(model: type[BaseModel], name: str) -> object:
    field = model.model_fields.get(name)
    return None if field is None else field.default
