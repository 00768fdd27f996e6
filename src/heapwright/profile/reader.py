# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A profile from a file: a trace, which is profiled, or a profile's JSON."""

from pathlib import Path

from heapwright.artefacts.documents import parsed
from heapwright.artefacts.profile.asked_moments import NO_MOMENTS, AskedMoments
from heapwright.artefacts.profile.document import Profile
from heapwright.base.errors import HeapwrightError
from heapwright.profile.run import profile_trace

OPENING = b"{"


def read_profile(
    path: Path, process: int | None = None, asked: AskedMoments = NO_MOMENTS
) -> Profile:
    """The profile that `path` holds or leads to. Raises HeapwrightError if it does neither."""
    if not is_document(path):
        return profile_trace(path, process, asked=asked)
    if process is not None:
        raise HeapwrightError(
            f"{path} is a profile already: its processes cannot be separated",
            "name the trace it was made from",
        )
    if asked:
        raise HeapwrightError(
            f"{path} is a profile already: it has only the moments that it was made with",
            "name the trace it was made from",
        )
    return parsed(Profile, path.read_bytes(), path, "a profile")


def is_document(path: Path) -> bool:
    """Whether it is a profile's JSON and not a trace. Raises HeapwrightError."""
    try:
        with path.open("rb") as file:
            return file.read(256).lstrip()[:1] == OPENING
    except OSError as error:
        raise HeapwrightError(f"{path} cannot be read: {error.strerror or error}") from error
