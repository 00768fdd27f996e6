# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The folder of a search for an allocator: its question, and what each stage has left.

    question.json            the search that this folder is of
    input-N.trace            the recorded inputs
    candidates/DIGEST/       a header and its library, compiled once
    replays.json             the figures of the replays by digest
    race.json                a comparison
    refined-N-DIGEST.json    the comparison of round N, beside the winner with this digest
    refinement.json          the complete refinement, by the digest of the winner of the race
    judged-N-DIGEST.json     comparisons of the winner with this digest
    page.html                the answer with its charts
    proofs.json              the examinations of the winners by digest
    allocators/NAME/         the tailored allocator: header, library, entry, and its digest

A stage writes a file when it is complete, beside its place, and moves it. The same search skips
the stages that are complete.
"""

import contextlib
import os
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from heapwright.artefacts.comparison.document import Comparison
from heapwright.artefacts.search_folder import SearchQuestion, agree, lock_folder
from heapwright.artefacts.tailoring.document import Proof, Refinement
from heapwright.base.errors import ExitCode, HeapwrightError

QUESTION, LOCK, REPLAYS, PROOFS = "question.json", "lock", "replays.json", "proofs.json"
REFINEMENT = "refinement.json"


class Question(SearchQuestion):
    """The same question continues a search."""

    format: Literal["heapwright tailor"] = "heapwright tailor"
    version: Literal[1] = 1
    inputs: tuple[tuple[str, ...], ...]
    unseen: tuple[tuple[str, ...], ...]
    cwd: str
    name: str
    proposal: str = ""
    """The only one that is tried; empty: all."""
    peers: tuple[str, ...]
    margin: float
    headers: str
    """The hash of the installed headers."""
    compiler: str
    """Its command and its version."""
    traces: dict[str, tuple[int, int]]
    """The inputs that are traces, with the bytes and the time in ns of the last change of each."""
    programs: dict[str, str] = {}
    """The inputs that are programs of the catalogue, with the hash of the file of each."""


class Replayed(BaseModel):
    """The replays of one candidate, or why there are none."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seconds: float | None = None
    peak_bytes: int | None = None
    faults: int | None = None
    """Page faults of one replay."""
    instructions: int | None = None
    """Of one replay in user mode; None: not counted."""
    not_counted: str = ""
    """Why it cannot be counted; it is not tried again."""
    why_not: str = ""


_REPLAYS = TypeAdapter(dict[str, Replayed])
_REFINEMENTS = TypeAdapter(dict[str, Refinement])
_PROOFS = TypeAdapter(dict[str, Proof])


class TailorFolder:
    """An open folder; a context manager."""

    def __init__(self, path: Path, question: Question, descriptor: int) -> None:
        self.path = path
        self.question = question
        self._descriptor = descriptor

    @classmethod
    def open(cls, path: Path, question: Question, *, same_seed: bool) -> Self:
        """Begin a search or continue the same one. Without `same_seed` the folder's seed holds.

        Raises HeapwrightError for a folder of another search, with other files, or in use.
        """
        descriptor = lock_folder(path, LOCK, {LOCK}, QUESTION)
        try:
            agreed = agree(path / QUESTION, question, same_seed=same_seed)
            return cls(path, agreed, descriptor)
        except BaseException:
            os.close(descriptor)
            raise

    def trace(self, number: int) -> Path:
        return self.path / f"input-{number}.trace"

    @property
    def candidates(self) -> Path:
        return self.path / "candidates"

    @property
    def allocators(self) -> Path:
        """A registry with the tailored allocator."""
        return self.path / "allocators"

    def replays(self) -> dict[str, Replayed]:
        """By digest. A damaged file is as none: the replays are made again."""
        with contextlib.suppress(OSError, ValidationError):
            return _REPLAYS.validate_json((self.path / REPLAYS).read_bytes())
        return {}

    def keep_replays(self, replays: dict[str, Replayed]) -> None:
        self.keep(REPLAYS, _REPLAYS.dump_json(replays, indent=1).decode())

    def refinements(self) -> dict[str, Refinement]:
        """By digest. A damaged file is as none: what the folder has of the rounds is joined."""
        with contextlib.suppress(OSError, ValidationError):
            return _REFINEMENTS.validate_json((self.path / REFINEMENT).read_bytes())
        return {}

    def keep_refinements(self, refinements: dict[str, Refinement]) -> None:
        self.keep(REFINEMENT, _REFINEMENTS.dump_json(refinements, indent=1).decode())

    def proofs(self) -> dict[str, Proof]:
        """By digest. A damaged file is as none: the winner is proved again."""
        with contextlib.suppress(OSError, ValidationError):
            return _PROOFS.validate_json((self.path / PROOFS).read_bytes())
        return {}

    def keep_proofs(self, proofs: dict[str, Proof]) -> None:
        self.keep(PROOFS, _PROOFS.dump_json(proofs, indent=1).decode())

    def comparison(self, name: str) -> Comparison | None:
        """A complete comparison; None: it is to be made."""
        with contextlib.suppress(OSError, ValidationError):
            return Comparison.from_json((self.path / f"{name}.json").read_bytes())
        return None

    def keep(self, name: str, text: str) -> None:
        """Write a whole file. Raises HeapwrightError if it cannot be written."""
        whole, beside = self.path / name, self.path / f".{name}.tmp"
        try:
            beside.write_text(text, encoding="utf-8")
            beside.replace(whole)
        except OSError as error:
            with contextlib.suppress(OSError):
                beside.unlink()
            raise HeapwrightError(
                f"{whole} cannot be written: {error.strerror or error}",
                f"with room for it, the same command with -o {self.path} continues the search",
                exit_code=ExitCode.NOT_WRITTEN,
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._descriptor)
