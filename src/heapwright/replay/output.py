# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What a run of the replay says of itself, as figures of a run.

The time of a replay is that of its calls, from the first to the last of all threads. Its memory is
the peak without the replayer's own part. They take the place of the whole process's figures. A
replay that does not write into its memory has no such peak: what is not written is not resident.
"""

from collections.abc import Callable, Iterator
from functools import partial

from pydantic import ValidationError

from heapwright.artefacts.run.replay import TOUCH, ReplayFigures, ReplayLine, Touch, shows_memory

METHOD = "the kernel's peak of the process, less the replayer's own"
UNTOUCHED = "none: the replay did not write into its memory"
RARE = 0.01
"""Share of the calls below which a routine's latencies are not compared."""
COMPARED = ("p50_ns", "p99_ns", "p99_9_ns", "p99_99_ns", "max_ns")


def reader_of(touch: Touch, *, whole: bool = False) -> Callable[[str], dict[str, object]]:
    """What reads the output of replays that write that much. `whole`: the times stay those of the
    process, with its start and its end."""
    return partial(figures_of, touch=touch, whole=whole)


def figures_of(text: str, touch: Touch = TOUCH, *, whole: bool = False) -> dict[str, object]:
    """Fields of a run; ValueError in words if the line is not what it should be."""
    lines = [line for line in text.splitlines() if line.strip()]
    try:
        line = ReplayLine.model_validate_json(lines[-1] if lines else "")
    except ValidationError as error:
        raise ValueError("the replay printed no line that can be read") from error
    has_peak = shows_memory(touch)
    times = {"wall_s": line.seconds, "user_s": line.user_s, "sys_s": line.sys_s}
    return {
        **({} if whole else times),
        "peak_rss_bytes": (line.peak_bytes or None) if has_peak else None,
        "peak_rss_method": METHOD if has_peak else UNTOUCHED,
        "replay": ReplayFigures.model_validate(line.model_dump()).model_dump(),
        "measures": dict(_measures(line, has_peak)),
    }


def _measures(line: ReplayLine, has_peak: bool) -> Iterator[tuple[str, float]]:
    """The further responses that are compared, by name."""
    if line.checked:
        return
    if has_peak and line.a_over_u is not None:
        yield "a_over_u", line.a_over_u
    if line.calls_s is not None and line.calls:
        yield "call_ns", 1e9 * line.calls_s / line.calls
    for routine, times in line.routines.items():
        if times.calls >= RARE * line.calls:
            for name in COMPARED:
                yield f"{routine}.{name}", getattr(times, name)
