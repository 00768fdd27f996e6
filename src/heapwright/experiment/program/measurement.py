# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Runs of a program for the engine of comparisons."""

from heapwright.artefacts.run.measured import Run
from heapwright.experiment.blocks import Assignment
from heapwright.experiment.measurement import Specs, end_of
from heapwright.experiment.program.session import Prepared, Session


class ProgramMeasurement:
    """Makes runs. Pass `execute` to the engine."""

    def __init__(self, prepared: Prepared, specs: Specs) -> None:
        self._session = Session(prepared, specs)

    def execute(self, assignment: Assignment) -> Run:
        """One run. Raises HeapwrightError if it cannot be made, KeyboardInterrupt on Ctrl-C."""
        taken = self._session.take(assignment.treatment, assignment.timeout_s)
        end = end_of(assignment, taken.named, taken.proof)
        measures = self._session.measures(taken)
        return Run.model_validate({**taken.figures, **end, "measures": measures})
