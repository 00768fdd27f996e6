# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What a guest recorded, read: one JSON object a line, from `begin` to `end`.

A guest that fails writes a record of its own. A guest that dies writes no `end`. Either is an error
that names what happened; the console's last lines go with it.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from heapwright.artefacts.kernel_study.boot import ObjectPath, Phase, Sample
from heapwright.base.errors import ExitCode, HeapwrightError

TOTAL_TIME = re.compile(r"^\s*total time:\s+([\d.]+)s")
TOTAL_EVENTS = re.compile(r"^\s*total number of events:\s+(\d+)")

TOLD = 8
WORK = ("served", "compiled")
"""Phases that are the whole load."""


@dataclass(slots=True)
class Records:
    """All that a guest recorded, by kind."""

    allocator: str
    cpus: int
    samples: list[Sample] = field(default_factory=list)
    paths: list[ObjectPath] = field(default_factory=list)
    phases: list[Phase] = field(default_factory=list)
    churn: Mapping[str, int] = field(default_factory=dict)
    output: list[str] = field(default_factory=list)


class GuestError(HeapwrightError):
    """A guest that did not come to its end."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message, hint, exit_code=ExitCode.NOTHING_COMPARED)


def read_records(raw: bytes, console: Sequence[str]) -> Records:
    """Raises GuestError where the guest failed or did not end."""
    lines = list(_lines(raw))
    printed = [str(line.get("line")) for line in lines if line.get("record") == "output"]
    shown = "\n".join(
        [
            *(["the last lines of the guest's programs:", *printed[-TOLD:]] if printed else ()),
            *(["the console's last lines:", *console] if console else ()),
        ]
    )
    for line in lines:
        if line.get("record") == "failure":
            what = line.get("phase", line.get("why", f"status {line.get('status')}"))
            raise GuestError(f"the guest failed: {line.get('what')}: {what}", shown)
    if not lines or lines[0].get("record") != "begin":
        raise GuestError("the kernel did not boot as far as its first process", shown)
    if lines[-1].get("record") != "end":
        last = lines[-1].get("record")
        raise GuestError(f"the guest died in the middle; its last record is {last!r}", shown)
    try:
        return _sorted(lines)
    except (ValidationError, KeyError, TypeError) as error:
        raise GuestError(f"the guest's records cannot be read: {error}", shown) from error


def _lines(raw: bytes) -> list[dict[str, Any]]:
    """Every whole line that is a record; a torn one is as good as none."""
    found = []
    for line in raw.decode("ascii", "replace").splitlines():
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict) and isinstance(value.get("record"), str):
            found.append(value)
    return found


def _sorted(lines: Sequence[dict[str, Any]]) -> Records:
    begin = lines[0]
    records = Records(str(begin["allocator"]), int(begin["cpus"]))
    for line in lines:
        kind = line["record"]
        rest = {name: value for name, value in line.items() if name != "record"}
        timeless = {name: value for name, value in rest.items() if name != "at_ns"}
        if kind == "sample":
            records.samples.append(Sample.model_validate(rest))
        elif kind == "path":
            records.paths.append(ObjectPath.model_validate(timeless))
        elif kind == "phase":
            records.phases.append(Phase.model_validate(timeless))
        elif kind == "churn":
            records.churn = {name: int(value) for name, value in timeless.items()}
        elif kind == "output":
            records.output.append(str(rest["line"]))
    return records


def responses(records: Records) -> dict[str, float]:
    """The figures that a study compares."""
    found: dict[str, float] = {}
    if records.samples:
        first, last = records.samples[0], records.samples[-1]
        found |= {
            "slab_begin_kib": first.slab_kib,
            "slab_end_kib": last.slab_kib,
            "slab_peak_kib": max(each.slab_kib for each in records.samples),
            "kernel_peak_kib": max(each.kernel_kib for each in records.samples),
            "free_least_kib": min(each.free_kib for each in records.samples),
            "fragmentation_events": last.fragmentation_events,
            "oom_kill": last.oom_kill,
        }
    if records.churn:
        found["time_s"] = records.churn["ns"] / 1e9
        found |= {name: records.churn[name] for name in ("made", "removed", "refused")}
    if records.paths:
        found["time_s"] = sum(path.ns for path in records.paths) / 1e9
    for path in records.paths:
        found[f"{path.object}_us"] = path.ns / path.times / 1e3
    for phase in records.phases:
        found[f"{phase.phase}_s"] = phase.ns / 1e9
        if phase.phase in WORK:
            found["time_s"] = phase.ns / 1e9
    for line in records.output:
        if match := TOTAL_TIME.match(line):
            found["time_s"] = float(match[1])
        elif match := TOTAL_EVENTS.match(line):
            found["events"] = float(match[1])
    return found
