# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Single figures of a replay by their path, such as `routines.malloc.mean_ns`, for studies.

`a_over_u` is the peak of resident memory over the peak of live bytes, `ideal_bytes`. A routine that
the trace does not call, and a machine without a steady counter, leave a figure out.
"""

from typing import Any

from heapwright.artefacts.run.replay import ReplayFigures, RoutineTimes

ROUTINES = "routines"
OF_MEMORY = ("a_over_u", "peak_heap_bytes")
"""Figures that a replay lacks if it does not write into its objects."""
OF_RUN = (
    "calls",
    "calls_s",
    "failed_calls",
    "ideal_bytes",
    "waiting_s",
    "waits",
    *OF_MEMORY,
)
OF_ROUTINE = tuple(name for name in RoutineTimes.model_fields if name != "histogram")


def replay_figure(replay: ReplayFigures, figure: str) -> float | None:
    """A figure of a replay; the path is one that `why_no_figure` has nothing against."""
    here: Any = replay
    if figure.startswith(f"{ROUTINES}."):
        _, routine, figure = figure.split(".")
        here = replay.routines.get(routine)
    value = None if here is None else getattr(here, figure)
    return None if value is None else float(value)


def why_no_figure(figure: str) -> str:
    """What is wrong with a path; empty if a replay can have it."""
    match figure.split("."):
        case [name] if name in OF_RUN:
            return ""
        case [first, _, name] if first == ROUTINES:
            known = OF_ROUTINE
        case [name]:
            known = (*OF_RUN, f"{ROUTINES}.ROUTINE.mean_ns")
        case _:
            return f"say {', '.join(OF_RUN)} or {ROUTINES}.ROUTINE.mean_ns"
    return "" if name in known else f"a replay has no {name!r} there; it has {', '.join(known)}"
