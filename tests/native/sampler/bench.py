# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The types of the fixtures, and what tests read from a document."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from heapwright.artefacts.stacks.profile import StackProfile

INCLUDE = Path(__file__).parents[3] / "include"


class Document(NamedTuple):
    """One that the sampler wrote."""

    path: Path
    profile: StackProfile

    @property
    def text(self) -> str:
        return self.path.read_text()

    def head(self, key: str) -> str:
        """The value of a line of the head."""
        found = re.search(rf"^{key} (.*)$", self.text, re.MULTILINE)
        assert found is not None
        return found[1]

    def counts(self, size: int) -> tuple[int, int, int]:
        """The samples of blocks of this size: live, all, live at the peak."""
        lines = re.findall(rf"^ {size} (\d+) (\d+) (\d+)$", self.text, re.MULTILINE)
        live, made, peak = (sum(int(line[column]) for line in lines) for column in range(3))
        return live, made, peak


class Run(NamedTuple):
    """A command that has ended, and its documents."""

    done: subprocess.CompletedProcess[str]
    documents: list[Document]


Sampled = Callable[..., Run]
Compiled = Callable[..., Path]
