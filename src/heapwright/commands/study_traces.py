# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A run of a study that is a recording: runs a program according to its file, then profiles it.

One trace is on the disk at a time, in the folder of the run. The program's answers decide whether
the run is good. A run whose recording is missing or incomplete has failed.
"""

import signal
import time
from pathlib import Path

from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.trace.file import STOPPED
from heapwright.base.scratch import Scratch
from heapwright.commands.record import libraries_of, name_of_signal, request_of
from heapwright.experiment.measurement import Conditions, Specs
from heapwright.experiment.outcome import Classified
from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.program.recorded import IsOver, RecordedProgram
from heapwright.experiment.program.session import LONGEST_S
from heapwright.experiment.study_measurement import Characterised, StudyProgram
from heapwright.experiment.treatments import Treatment
from heapwright.profile.run import profile_trace
from heapwright.record.recorder import HowToRecord, ServerLoad, record
from heapwright.record.recorder import Outcome as Recorded

LOOK_S = 0.05
PATIENCE_S = 10.0
"""Seconds that a program has to end when its time is up."""


def characterise(
    found: StudyProgram, treatment: Treatment, timeout_s: float | None
) -> Characterised:
    """Record and profile it. Raises HeapwrightError if it cannot be run, KeyboardInterrupt on an
    interruption."""
    limit = min(filter(None, (timeout_s, found.prepared.file.program.timeout_s, LONGEST_S)))
    with (
        PreloadPaths() as paths,
        Scratch() as folder,
        RecordedProgram(found.prepared, _specs(found, paths)) as beside,
    ):
        trace = folder / "trace"
        behind = () if treatment.preload is None else (treatment.preload,)
        libraries = libraries_of(paths, behind)
        driven = _Limited(float(limit)) if beside.server is None else None
        how = HowToRecord(follow=True)  # the programs that a script starts do its work
        variables = treatment.environment
        request = request_of(beside, trace, libraries, _driven(beside, driven), how, variables)
        outcome = record(request)
        if outcome.asked_to_end:
            raise KeyboardInterrupt
        beside.notes()
        named = _named(outcome, beside, found.prepared.file.program.expect_exit)
        if driven is not None and driven.timed_out:
            named = Classified(Outcome.TIMEOUT, f"still running after {limit:g} s")
        good = named.outcome is Outcome.OK
        return Characterised(named, profile_trace(trace) if good else None)


def _specs(found: StudyProgram, paths: PreloadPaths) -> Specs:
    return Specs(Conditions((), found.environment, Path.cwd()), paths, found.first)


class _Limited:
    """Waits beside a program that is no server until it ends or its time is up."""

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self.timed_out = False

    def drive(self, is_over: IsOver) -> None:
        deadline = time.monotonic() + self._limit_s
        while not is_over():
            if time.monotonic() > deadline:
                self.timed_out = True
                return
            time.sleep(LOOK_S)


def _driven(beside: RecordedProgram, limited: _Limited | None) -> ServerLoad:
    if limited is not None:
        return ServerLoad(limited.drive, PATIENCE_S)
    assert beside.server is not None
    return ServerLoad(beside.drive, float(beside.server.timeout_s))


def _named(outcome: Recorded, beside: RecordedProgram, expected: int) -> Classified:
    """How the run ended. The program decides first, then its surroundings, then the recording."""
    is_server = beside.server is not None
    if outcome.signal and not (is_server and outcome.signal == signal.SIGTERM):
        return Classified(Outcome.CRASHED, f"killed by {name_of_signal(outcome.signal)}")
    if beside.named.outcome is not Outcome.OK:
        return beside.named
    if not is_server and outcome.exit_status != expected:
        return Classified(Outcome.FAILED, f"exit status {outcome.exit_status}")
    if outcome.stop != "none":
        return Classified(Outcome.FAILED, f"recording stopped early: {STOPPED[outcome.stop]}")
    if not outcome.events:
        return Classified(Outcome.NOT_INTERPOSED, "nothing was recorded")
    return Classified(Outcome.OK)
