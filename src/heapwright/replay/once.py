# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""One replay that is not compared with others, under the allocator that the environment
preloads."""

from collections.abc import Mapping
from pathlib import Path

from heapwright.artefacts.run.replay import TOUCH, ReplayLine, Touch
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.base.native_programs import Program
from heapwright.replay.prepare import PROGRAM, run_options


def replay_once(
    plan: Path,
    environment: Mapping[str, str],
    *,
    touch: Touch = TOUCH,
    check: bool = False,
    curve: Path | None = None,
) -> ReplayLine:
    """What the replay says of itself. Raises HeapwrightError where it does not come to its end."""
    words = run_options(plan, touch=touch, checked=check, curve=curve)
    return Program(PROGRAM, _refusal, environment).answer(ReplayLine, words)


def _refusal(why: str) -> HeapwrightError:
    return HeapwrightError(f"the replay failed: {why}", exit_code=ExitCode.NOTHING_COMPARED)
