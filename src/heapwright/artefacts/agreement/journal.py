# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The answers of `heapwright agree --keep FILE`, one line a program, so that a sitting that was
broken off can be gone on with.

The first line states the question: allocators by the hashes of their libraries, scale, blocks,
seed. A line is written with one call when its program is done. If the writer is killed meanwhile,
the last line is torn, and is cut off. An answer is valid for one hash of the program's file. A
program with another hash, or without an answer, is measured again.
"""

import fcntl
import os
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from pydantic import ValidationError

from heapwright.artefacts.agreement.document import ProgramAgreement
from heapwright.artefacts.models import FrozenModel
from heapwright.artefacts.run.replay import Surroundings
from heapwright.base.errors import HeapwrightError
from heapwright.base.line_file import append_line, cut_torn_line

FORMAT: Literal["heapwright agreement by program"] = "heapwright agreement by program"
VERSION: Literal[1] = 1
FORMAT_BEGINS = f'{{"format":"{FORMAT}"'.encode()
"""The first bytes of such a file."""


class Asked(FrozenModel):
    """What all answers of a file are to."""

    format: Literal["heapwright agreement by program"] = FORMAT
    version: Literal[1] = VERSION
    allocators: tuple[tuple[str, str], ...]
    """Name and SHA-256 of the library; empty for what is not preloaded."""
    scale: str
    blocks: int
    seed: int
    surroundings: Surroundings = Surroundings()

    def differences(self, other: "Asked") -> list[str]:
        """In what another question is another one, in words."""
        return [
            f"{what} {one} there, {two} now"
            for what, one, two in (
                ("allocators", _names(self.allocators), _names(other.allocators)),
                ("scale", self.scale or "whole", other.scale or "whole"),
                ("blocks", self.blocks, other.blocks),
                ("seed", self.seed, other.seed),
                ("gaps", self.surroundings.gaps, other.surroundings.gaps),
                ("visits", f"{self.surroundings.visits:g}", f"{other.surroundings.visits:g}"),
                ("whole", self.surroundings.whole, other.surroundings.whole),
            )
            if one != two
        ] or (["other builds of the allocators"] if self != other else [])


class Answer(FrozenModel):
    """One line."""

    file_sha256: str
    """Of the program's file."""
    answer: ProgramAgreement


class KeptAnswers:
    """The open file; a context manager."""

    def __init__(self, path: Path) -> None:
        """Open it, to go on if something is there. Raises HeapwrightError if that is another file,
        or if another process writes to it."""
        self._path = path
        self.failure = ""
        try:
            self._descriptor = os.open(
                path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666
            )
        except OSError as error:
            raise HeapwrightError(
                f"--keep {path} cannot be written: {error.strerror}", "nothing was run"
            ) from error
        try:
            self._lock()
            self.asked, answers = self._read()
        except BaseException:
            self.close()
            raise
        self._answers = {(each.answer.program, each.file_sha256): each.answer for each in answers}

    @property
    def seed(self) -> int | None:
        """That of the answers that are there."""
        return None if self.asked is None else self.asked.seed

    def begin(self, asked: Asked) -> None:
        """Set the question of this run. Raises HeapwrightError if the answers there are to
        something else."""
        if self.asked is None:
            self._append(asked.model_dump_json())
        elif self.asked != asked:
            raise HeapwrightError(
                f"--keep {self._path} has answers to another question: "
                f"{'; '.join(self.asked.differences(asked))}",
                "ask the same again, or name another file",
            )
        self.asked = asked

    def of(self, name: str, file_sha256: str) -> ProgramAgreement | None:
        """The answer of a program, if it has one: a program with a reason instead of an answer is
        measured again."""
        found = self._answers.get((name, file_sha256))
        return found if found is not None and found.agreements else None

    def keep(self, answer: ProgramAgreement, file_sha256: str) -> None:
        """Write an answer; if it cannot be written, `failure` says why, and the rest goes on."""
        self._append(Answer(file_sha256=file_sha256, answer=answer).model_dump_json())

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _lock(self) -> None:
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise HeapwrightError(f"another heapwright is writing to {self._path}") from None

    def _read(self) -> tuple[Asked | None, Sequence[Answer]]:
        data = self._path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        lines = whole.splitlines()
        if not lines and not FORMAT_BEGINS.startswith(data[: len(FORMAT_BEGINS)]):
            raise self._foreign()
        try:
            asked = Asked.model_validate_json(lines[0]) if lines else None
            answers = [Answer.model_validate_json(line) for line in lines[1:]]
        except ValidationError as error:
            raise self._foreign() from error
        cut_torn_line(self._descriptor)
        return asked, answers

    def _foreign(self) -> HeapwrightError:
        return HeapwrightError(
            f"--keep {self._path} is no file of answers, so it is left as it is",
            "name another file",
        )

    def _append(self, text: str) -> None:
        if self.failure:
            return
        try:
            append_line(self._descriptor, text)
        except OSError as error:
            self.failure = f"--keep {self._path} could not be written: {error.strerror or error}"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _names(allocators: Sequence[tuple[str, str]]) -> str:
    return ", ".join(name for name, _ in allocators)
