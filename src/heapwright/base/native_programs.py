# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Runs heapwright's native programs and reads their output. A failure raises their own message.

They end with 0 when all went well, and say on standard error, behind their name, what did not.
Output that does not fit the model comes from a program of another version. What the user preloads
is for other programs: they run without it, unless an environment is given.
"""

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from heapwright.base import native
from heapwright.base.errors import HeapwrightError

Answer = TypeVar("Answer", bound=BaseModel)


def _without_preload() -> dict[str, str]:
    return {name: text for name, text in os.environ.items() if name != "LD_PRELOAD"}


@dataclass(frozen=True, slots=True)
class Program:
    """`heapwright-NAME`; `refusal` makes an error of its words where it does not end well."""

    name: str
    refusal: Callable[[str], HeapwrightError] = HeapwrightError
    environment: Mapping[str, str] = field(default_factory=_without_preload)

    def ask(self, words: Sequence[str], *, text: str = "", fine: Sequence[int] = (0,)) -> bytes:
        """What it prints when it is given `text`; `fine` are the statuses of a good end."""
        done = subprocess.run(
            [str(native.program(self.name)), *words],
            input=text.encode("utf-8", "surrogateescape"),
            capture_output=True,
            env=dict(self.environment),
            check=False,
        )
        if done.returncode not in fine:
            raise self.refusal(complaint(self.name, done.returncode, done.stderr))
        return done.stdout

    def answer(
        self,
        model: type[Answer],
        words: Sequence[str],
        *,
        text: str = "",
        fine: Sequence[int] = (0,),
    ) -> Answer:
        """The same, checked; HeapwrightError where it is not what this version answers."""
        said = self.ask(words, text=text, fine=fine)
        try:
            return model.model_validate_json(said)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False, include_input=False)[0]
            where = ".".join(map(str, first["loc"])) or "its answer"
            raise HeapwrightError(
                f"{native.program(self.name)} is not of this version of heapwright: "
                f"{where}: {first['msg']}",
                "build and install again",
            ) from error


def complaint(name: str, status: int, said: bytes) -> str:
    """Why a program failed, in its own words."""
    if status < 0:
        return f"heapwright-{name} was ended by signal {-status}"
    words = said.decode("utf-8", "replace").strip().removeprefix(f"heapwright-{name}: ")
    return words or f"heapwright-{name} left with status {status}"
