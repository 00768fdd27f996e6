# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Reads one number from a program's output: by a pattern, by a path in JSON, or the last of a line.

Of several matches the last counts, because programs report results at their end. A number that is
missing or not finite is a ValueError with a reason. The run has then failed; it is not a run
without a figure.
"""

import json
import math
import re
from typing import Any, Protocol

NUMBER = re.compile(r"[-+]?(?:\d[\d,]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
SHOWN = 60


class Reading(Protocol):
    """Where the number is; one of these is given."""

    @property
    def pattern(self) -> str | None: ...
    @property
    def json_path(self) -> str | None: ...
    @property
    def last_number(self) -> str | None: ...


def number_in(text: str, response: Reading) -> float | None:
    """The number of the response; None if JSON has null, which means not measured."""
    if response.pattern is not None:
        return _by_pattern(text, response.pattern)
    if response.json_path is not None:
        return _by_path(text, response.json_path)
    return _by_line(text, response.last_number or "")


def _by_pattern(text: str, pattern: str) -> float:
    found = [match["value"] for match in re.finditer(pattern, text, re.MULTILINE)]
    if not found or found[-1] is None:
        raise ValueError(f"nothing that it printed fits the pattern {pattern!r}")
    return _number(found[-1], f"what fits {pattern!r}")


def _by_path(text: str, path: str) -> float | None:
    """In the whole text if it is one document, else in the last line that is one."""
    at: Any = _document(text)
    for step in path.split("."):
        try:
            at = at[int(step)] if isinstance(at, list) else at[step]
        except (KeyError, IndexError, ValueError, TypeError):
            raise ValueError(f"what it printed has no {path!r}: there is no {step!r}") from None
    if at is None:
        return None
    if isinstance(at, bool) or not isinstance(at, int | float | str):
        raise ValueError(f"{path!r} in what it printed is no number")
    return _number(str(at), repr(path))


def _document(text: str) -> Any:
    lines = [line for line in text.splitlines() if line.strip()]
    for candidate in (text, *reversed(lines)):
        try:
            found = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict | list):
            return found
    raise ValueError("it printed no JSON that can be read")


def _by_line(text: str, words: str) -> float:
    lines = [line for line in text.splitlines() if line.strip() and words in line]
    about = f"with {words!r} " if words else ""
    if not lines:
        raise ValueError(f"it printed no line {about}".rstrip())
    numbers = NUMBER.findall(lines[-1])
    if not numbers:
        raise ValueError(f"the last line {about}has no number: {lines[-1].strip()[:SHOWN]!r}")
    return _number(numbers[-1], f"the last number of {lines[-1].strip()[:SHOWN]!r}")


def _number(text: str, what: str) -> float:
    try:
        value = float(text.replace(",", "").replace("_", "").strip())
    except ValueError:
        raise ValueError(f"{what} is no number: {text.strip()[:SHOWN]!r}") from None
    if not math.isfinite(value):
        raise ValueError(f"{what} is no finite number: {text.strip()}")
    return value
