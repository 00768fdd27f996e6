# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A program, and a long run of it, as a verb's options name them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProgramRequest:
    """A program as the command line names it."""

    name: str
    scale: str | None = None
    parameters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LongRunRequest:
    """A long run of a program, in place of a recording."""

    hours: float
    allocator: str
    rest_s: float
    """Pause after each run of the client."""
    vary: str | None
    """A parameter and the values that it takes, one for each run of the client."""
