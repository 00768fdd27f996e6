# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The files that the user wrote, and the first error in them.

A compiler reports the library's headers before it reaches the wrong line. The user can repair
that line only, so it is shown first.
"""

from dataclasses import dataclass
from pathlib import Path

from heapwright.artefacts.composition.expression import Expression
from heapwright.compose.compiler import Answer, Complaint
from heapwright.compose.origins import Origin, quoted


@dataclass(frozen=True, slots=True)
class Sources:
    """The files of the user, as copied to the folder of the new allocator."""

    folder: Path
    name: str
    origin: Origin

    def complaint(self, answer: Answer) -> str:
        """The first error in one of them, as `FILE:LINE: TEXT`; empty if there is none.

        An error in the rungs that were put on top, at the end of the copy, is none of the user's.
        """
        shown = self._shown()
        found = answer.complaint_in(shown)
        if found is None or self._is_put_on_top(found):
            return ""
        return f"{shown[Path(found.file)]}:{found.line}: {found.text}"

    def rung(self, tree: Expression) -> str:
        """The name of the user's rung with this tree, as `NAME: `; empty if there is none."""
        rungs = (each for each in self.origin.candidates if each.is_rung and each.tree == tree)
        return next((f"{each.spelled.removeprefix('::')}: " for each in rungs), "")

    @property
    def namespaces(self) -> str:
        """Lines that let a question name the user's own layers without their namespaces."""
        spaces = (each.spelled.rpartition("::")[0] for each in self.origin.candidates)
        return "".join(f"\nusing namespace {each};" for each in dict.fromkeys(spaces) if each)

    def _is_put_on_top(self, found: Complaint) -> bool:
        ours = Path(found.file) == self.folder / f"{self.name}.hpp"
        return ours and found.line > len(self.origin.text.splitlines())

    def _shown(self) -> dict[Path, str]:
        path = self.origin.path
        if path is None:
            return {}
        copies = (self.folder / f"{self.name}.hpp", self.folder / f"{self.name}-layers.hpp")
        home = path.resolve().parent
        others = [each.relative_to(home) for each in quoted(path)]
        return dict.fromkeys(copies, path.name) | {self.folder / each: str(each) for each in others}
