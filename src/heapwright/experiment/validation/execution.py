# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Makes the runs of a validation: those of the taxonomy, with one difference.

A library of another project knows the processors of this machine. The stand-in therefore assumes
the same ones, and not a processor for each thread. The locks of a library without a counting
variant are counted where it calls the C library.
"""

from dataclasses import replace

from heapwright.artefacts.run.workload import Aspect
from heapwright.base import native
from heapwright.experiment.taxonomy.execution import (
    LIMIT,
    LIMITED,
    PROCESSORS,
    Execution,
    counting_library,
)
from heapwright.experiment.taxonomy.survey import Task
from heapwright.experiment.taxonomy.trials import Trial
from heapwright.experiment.taxonomy.workload_run import Subject


class ValidationExecution(Execution):
    """Makes the runs of a validation. Pass `execute` to the survey."""

    def wanted(self, name: str, trial: Trial) -> bool:
        """Every trial, for both libraries; the limit only for what it is a limit of."""
        if name == LIMIT and trial.aspect not in LIMITED:
            return False
        return self._program_exists(trial.workload)

    def _subject(self, task: Task) -> Subject:
        subject = super()._subject(task)
        if task.allocator == LIMIT:
            return subject
        own = {name: text for name, text in subject.environment.items() if name != PROCESSORS}
        subject = replace(subject, environment=own)
        if task.trial.aspect is Aspect.EVENTS and not self.counts_itself(task.allocator):
            return replace(subject, counter=native.library("mutexes"))
        return subject

    def counts_itself(self, name: str) -> bool:
        """Whether the allocator has a counting library, which counts other shared words, too."""
        return counting_library(self._allocators[name]) is not None
