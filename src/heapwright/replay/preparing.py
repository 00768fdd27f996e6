# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""From a trace to the command that replays it, by `heapwright-replay prepare`.

The trace is decoded once, before any run, into a file of commands; each run then needs neither the
trace nor its decoder, so neither is in what is measured.
"""

import os
import subprocess
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from heapwright.artefacts import native
from heapwright.artefacts.errors import HeapwrightError
from heapwright.artefacts.replay import ReplayPlan

PROGRAM = "replay"
OWN = "heapwright-replay: "


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
    words = [str(native.program(PROGRAM)), "prepare", str(trace), "-o", str(plan)]
    words += ["--order", order, "--pace", pace]
    words += [] if process is None else ["--process", str(process)]
    environment = {name: text for name, text in os.environ.items() if name != "LD_PRELOAD"}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        said = done.stderr.strip().removeprefix(OWN) or f"status {done.returncode}"
        raise HeapwrightError(f"{trace} cannot be replayed: {said}")
    try:
        return ReplayPlan.model_validate_json(done.stdout)
    except ValidationError as error:
        raise HeapwrightError(
            f"{words[0]} is not of this version of heapwright", "build and install again"
        ) from error


def run_words(plan: Path, *, touch: str, checked: bool, curve: Path | None = None) -> list[str]:
    """The command of one run."""
    words = [str(native.program(PROGRAM)), "run", str(plan), "--touch", touch]
    words += ["--check"] if checked else []
    words += [] if curve is None else ["--curve", str(curve)]
    return words
