# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""From a trace to the command that replays it, by `heapwright-replay prepare`.

The trace is decoded once, before any run, into a file of commands. Each run then needs neither the
trace nor its decoder, so neither is in the measured figures.
"""

from contextlib import suppress
from pathlib import Path
from typing import Literal

from heapwright.artefacts.run.replay import (
    ORDER,
    TOUCH,
    Order,
    ReplayPlan,
    Surroundings,
    Touch,
    shows_memory,
    visits_per_ms,
)
from heapwright.artefacts.trace.file import TraceError, plain, selection, trace_info
from heapwright.artefacts.trace.processes import check_process
from heapwright.base import native
from heapwright.base.errors import HeapwrightError
from heapwright.base.native_programs import Program
from heapwright.base.quantities import several
from heapwright.base.space import refuse_without_memory, refuse_without_space

PROGRAM = "replay"
BYTES_A_CALL = 13
"""Of a plan, at most: 9 to 13 were seen (docs/reference/replay.md)."""
BYTES_A_GAP = 8
BYTES_OF_VISITS = 8 << 22
"""Of a plan with visits, at most."""
PLACE = "`--process` replays one process only; TMPDIR names another folder for temporary files"
LESS_MEMORY = "--touch first-byte needs less, and compares times only"


def prepare(  # noqa: PLR0913 - what a caller may choose, by name
    trace: Path,
    plan: Path,
    *,
    process: int | None = None,
    order: Order = ORDER,
    pace: Literal["asap", "recorded"] = "asap",
    surroundings: Surroundings | None = None,
) -> ReplayPlan:
    """Decode `trace` into `plan`; HeapwrightError says why it cannot be replayed.

    Without `process`, the one with the most calls is taken.
    """

    def refusal(why: str) -> HeapwrightError:
        return HeapwrightError(f"{trace} cannot be replayed: {why}")

    check_process(trace, process)
    with suppress(TraceError):  # the replayer says it in words of its own
        calls = trace_info(trace).events
        what = f"the decoded trace of {several(calls, 'call')}"
        refuse_without_space(plan, _most_bytes(calls, surroundings or Surroundings()), what, PLACE)
    words = ["prepare", plain(trace), "-o", str(plan), "--order", order, "--pace", pace]
    words += _surrounding_words(surroundings or Surroundings())
    return Program(PROGRAM, refusal).answer(ReplayPlan, [*words, *selection(process)])


def _most_bytes(calls: int, surroundings: Surroundings) -> int:
    gaps = 0 if surroundings.gaps == "none" else BYTES_A_GAP * calls
    return BYTES_A_CALL * calls + gaps + (BYTES_OF_VISITS if surroundings.visits else 0)


def _surrounding_words(surroundings: Surroundings) -> list[str]:
    words = [] if surroundings.gaps == "none" else ["--gaps", surroundings.gaps]
    rate = visits_per_ms(surroundings.visits)
    return words + (["--visits", str(rate)] if rate else [])


def refuse_surroundings(surroundings: Surroundings, touch: Touch) -> None:
    """Refuse what a replay cannot do between calls. Raises HeapwrightError."""
    if why := surroundings.problem(touch):
        raise HeapwrightError(
            f"--visits {surroundings.visits:g}: {why}", "add --gaps recorded, and leave out --touch"
        )


def refuse_beyond_memory(trace: Path, plan: ReplayPlan, touch: Touch) -> None:
    """Refuse to write into more memory than there is. Raises HeapwrightError."""
    if shows_memory(touch):
        refuse_without_memory(plan.ideal_bytes, f"the replay of {trace}", LESS_MEMORY)


def run_words(plan: Path, *, touch: Touch = TOUCH, checked: bool = False) -> tuple[str, ...]:
    """The command of one run."""
    return (str(native.program(PROGRAM)), *run_options(plan, touch=touch, checked=checked))


def run_options(
    plan: Path, *, touch: Touch, checked: bool, curve: Path | None = None
) -> tuple[str, ...]:
    """The same without the program; `curve` is the file that one is written to."""
    words = ["run", str(plan), "--touch", touch]
    words += ["--check"] if checked else []
    words += [] if curve is None else ["--curve", str(curve)]
    return tuple(words)
