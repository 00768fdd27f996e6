# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Reads the responses of a study from the data of a run: figures, texts, simulated counts.

A value that the machine does not provide is left out, never zero. Examples are a counter, and the
resident set of a run that was too short for a sample. A value that is missing in a text is a
ValueError with a reason.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from heapwright.artefacts.profile.document import Profile
from heapwright.artefacts.profile.figures import figure_of
from heapwright.artefacts.run.replay import ReplayFigures
from heapwright.artefacts.run.replay_responses import replay_figure
from heapwright.artefacts.study.model import Origin, Response
from heapwright.experiment.output_figures import number_in
from heapwright.experiment.simulation import event_in

FIELDS: dict[Origin, tuple[str, ...]] = {
    "wall": ("wall_s",),
    "user": ("user_s",),
    "sys": ("sys_s",),
    "cpu": ("user_s", "sys_s"),
    "peak_rss": ("peak_rss_bytes",),
    "minor_faults": ("minor_faults",),
    "major_faults": ("major_faults",),
    "voluntary_switches": ("voluntary_switches",),
    "involuntary_switches": ("involuntary_switches",),
}


@dataclass(frozen=True, slots=True)
class Left:
    """The data of a run."""

    figures: Mapping[str, Any]
    """Fields of the run."""
    stdout: str = ""
    stderr: str = ""
    report: str | None = None
    """The output file of the measuring command."""
    counts: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """The counts of each simulator, by event."""
    program: Mapping[str, float] = field(default_factory=dict)
    """Responses from the output of a program, by name."""
    profile: Profile | None = None
    """Of the program, if it was recorded."""


def read_responses(responses: Mapping[str, Response], left: Left) -> dict[str, float]:
    """The measured responses. Raises ValueError with its name for an unreadable one."""
    found: dict[str, float] = {}
    for name, response in responses.items():
        try:
            value = (
                left.program.get(name) if response.origin == "program" else _read(response, left)
            )
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
        if value is not None:
            found[name] = value
    return found


def _read(response: Response, left: Left) -> float | None:
    match response.origin:
        case "output" | "measure":
            return number_in(_text(response, left), response)
        case "callgrind" | "cachegrind":
            return event_in(left.counts.get(response.origin, {}), response.event)
        case "profile" | "replay":
            return _named(response, left)
        case "counter":
            counted: float | None = left.figures["counters"].get(response.event or "instructions")
            return counted
        case "idle_rss":
            sizes = [size for _, size in left.figures["rss_series"] if size > 0]
            return float(sizes[-1]) if sizes else None  # an ended process has no memory
        case _:
            values = [left.figures[name] for name in FIELDS[response.origin]]
            return None if None in values else float(sum(values))


def _named(response: Response, left: Left) -> float | None:
    """A figure of the profile or of the replay, by its path."""
    assert response.figure is not None
    if response.origin == "replay":
        replay = ReplayFigures.model_validate(left.figures["replay"])
        return replay_figure(replay, response.figure)
    return None if left.profile is None else figure_of(left.profile, response.figure)


def _text(response: Response, left: Left) -> str:
    if response.origin == "measure" and left.report is not None:
        return left.report
    return left.stderr if response.stream == "stderr" else left.stdout
