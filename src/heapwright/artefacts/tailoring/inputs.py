# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""An input of a search: a command, a trace, or a program of the catalogue."""

import shlex
from dataclasses import dataclass
from pathlib import Path

from heapwright.artefacts.program.request import ProgramRequest
from heapwright.base.paths import trace_in


@dataclass(frozen=True, slots=True)
class Input:
    """One input, with the words that documents have for it."""

    words: tuple[str, ...]
    program: ProgramRequest | None = None

    @property
    def trace(self) -> Path | None:
        """None: it is to be recorded."""
        return trace_in(self.words) if self.program is None else None

    @property
    def text(self) -> str:
        return shlex.join(self.words)


def program_input(asked: ProgramRequest) -> Input:
    """A program as an input. Its words are the command that runs it once."""
    words = ["heapwright", "programs", "run", asked.name]
    words += [] if asked.scale is None else ["--scale", asked.scale]
    words += [word for each in asked.parameters for word in ("-p", each)]
    return Input(tuple(words), asked)
