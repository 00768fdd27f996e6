# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A profile from a file, whatever the file is: a trace, which is profiled, or a profile's JSON."""

from pathlib import Path

from pydantic import ValidationError

from heapwright.artefacts.profile.document import SCHEMA_VERSION, Profile
from heapwright.base.errors import HeapwrightError
from heapwright.profile.run import profile_trace

OPENING = b"{"


def read_profile(path: Path, process: int | None = None) -> Profile:
    """The profile that `path` holds or leads to. Raises HeapwrightError if it does neither."""
    if not is_document(path):
        return profile_trace(path, process)
    if process is not None:
        raise HeapwrightError(
            f"{path} is a profile already: one process of it cannot be told apart",
            "name the trace it was made from",
        )
    try:
        return Profile.from_json(path.read_bytes())
    except ValidationError as error:
        raise HeapwrightError(f"{path} is no profile: {_first(error)}", _wanted()) from error


def is_document(path: Path) -> bool:
    """Whether a file is JSON, not a trace. Raises HeapwrightError if it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(256).lstrip()[:1] == OPENING
    except OSError as error:
        raise HeapwrightError(f"{path} cannot be read: {error.strerror or error}") from error


def _first(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    where = ".".join(map(str, first["loc"]))
    return f"{first['msg']}" + (f" ({where})" if where else "")


def _wanted() -> str:
    return (
        f"a profile of version {SCHEMA_VERSION} is what `heapwright profile T --json FILE` writes; "
        "a trace is what `heapwright record -o T` does"
    )
