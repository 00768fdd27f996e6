# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""From a trace to the command that replays it, by `heapwright-replay prepare`.

The trace is decoded once, before any run, into a file of commands; each run then needs neither the
trace nor its decoder, so neither is in what is measured.
"""

from pathlib import Path
from typing import Literal

from heapwright.artefacts.run.replay import ReplayPlan
from heapwright.artefacts.trace.file import plain, selection
from heapwright.base import native
from heapwright.base.errors import HeapwrightError
from heapwright.base.native_programs import Program

PROGRAM = "replay"


def prepare(
    trace: Path,
    plan: Path,
    *,
    process: int | None = None,
    order: Literal["hand-over", "recorded"] = "hand-over",
    pace: Literal["asap", "recorded"] = "asap",
) -> ReplayPlan:
    """Decode `trace` into `plan`; HeapwrightError says why it cannot be replayed.

    Without `process`, the one with the most calls is taken.
    """

    def refusal(why: str) -> HeapwrightError:
        return HeapwrightError(f"{trace} cannot be replayed: {why}")

    words = ["prepare", plain(trace), "-o", str(plan), "--order", order, "--pace", pace]
    return Program(PROGRAM, refusal).answer(ReplayPlan, [*words, *selection(process)])


def run_words(plan: Path, *, touch: str = "none", checked: bool = False) -> tuple[str, ...]:
    """The command of one run."""
    return (str(native.program(PROGRAM)), *run_options(plan, touch=touch, checked=checked))


def run_options(
    plan: Path, *, touch: str, checked: bool, curve: Path | None = None
) -> tuple[str, ...]:
    """The same without the program; `curve` is the file that one is written to."""
    words = ["run", str(plan), "--touch", touch]
    words += ["--check"] if checked else []
    words += [] if curve is None else ["--curve", str(curve)]
    return tuple(words)
