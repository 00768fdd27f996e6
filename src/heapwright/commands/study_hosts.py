# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`study run` and `resume` on many hosts: admits hosts, sends them runs, and handles lost hosts.

The results folder is written only here, by the same code as on one machine. A run is therefore in
it once or not at all, even if workers, the scheduler or this process fail.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from heapwright.artefacts.study_results.runs import StudyRun
from heapwright.artefacts.study_results.store import Store
from heapwright.base.errors import HeapwrightError
from heapwright.cluster.scheduler import Meeting
from heapwright.cluster.workers import Work, WorkerPool
from heapwright.commands.study_libraries import changed_libraries
from heapwright.commands.study_progress import StudyDisplay
from heapwright.commands.study_setup import Setup
from heapwright.commands.study_worker import Job, Order, Outcome, Report, greet, leave, make_run
from heapwright.experiment.blocks import Assignment
from heapwright.experiment.engine import Ending
from heapwright.experiment.spread import Event, Spread, conduct_spread
from heapwright.report.console import make_console

LONELY_S = 600.0
"""Seconds without any host after which the study stops."""


@dataclass(slots=True)
class StudyCrew:
    """The hosts of a study; a `Crew`."""

    setup: Setup
    store: Store
    quiet: bool = False
    hands: WorkerPool = field(init=False)
    _seen: float = field(default_factory=monotonic)
    """Time of the last connected host."""
    _compared: set[tuple[str, str]] = field(default_factory=set)
    """Hosts and their allocators that were compared with those here."""

    def connect(self, client: Any) -> None:
        """Use the workers of this Dask client."""
        file, design = self.setup.file, self.setup.design
        job = Job(
            text=file.text,
            where=file.where,
            folder=str(file.folder),
            scale=file.scale,
            seed=design.seed,
        )
        self.hands = WorkerPool(
            client,
            Work(greet, make_run, leave, job.model_dump_json()),
            self._welcome,
            lambda why: self.tell(f"not used: {why}"),
        )

    def idle(self) -> Sequence[str]:
        return self.hands.idle

    def begin(self, host: str, assignment: Assignment, attempt: int) -> None:
        order = Order(
            treatment=assignment.treatment.level,
            block=assignment.block,
            position=assignment.position,
            warmup=assignment.warmup,
            timeout_s=assignment.timeout_s,
            attempt=attempt,
        )
        self.hands.tell(host, order.model_dump_json())

    def wait(self) -> Sequence[Event[StudyRun]]:
        events: list[Event[StudyRun]] = []
        for answer in self.hands.wait():
            if answer.text is None:
                self.tell(f"{answer.host} is lost; another host makes its unfinished run")
                events.append(Event(answer.host))
                continue
            outcome = Outcome.model_validate_json(answer.text)
            if outcome.run is None:
                events.append(self._dismissed(answer.host, outcome))
            else:
                events.append(Event(answer.host, outcome.run))
        if self.hands.hosts:
            self._seen = monotonic()
        elif monotonic() - self._seen > LONELY_S:
            raise HeapwrightError(
                f"there has been no host for {LONELY_S / 60:g} min",
                f"heapwright study resume {self.store.folder.path} makes the missing runs",
            )
        return events

    def stop(self) -> None:
        self.hands.stop()

    def _dismissed(self, host: str, outcome: Outcome) -> Event[StudyRun]:
        """A host that cannot make a run is not used again. The reason of the last host ends the
        study."""
        self.hands.dismiss(host)
        if self.hands.hosts:
            self.tell(f"{host} is no longer used: {outcome.error}")
            return Event(host)
        return Event(host, error=HeapwrightError(f"{host}: {outcome.error}", outcome.hint))

    def _welcome(self, greeting: str) -> str | None:
        """Admit a host, or print the reason why not."""
        report = Report.model_validate_json(greeting)
        missing = {each.level for each in self.setup.treatments} - set(report.treatments)
        why = report.refused
        if not why and missing:
            first = next(each for each in self.setup.treatments if each.level in missing)
            levels = ", ".join(first.levels.values())
            why = f"it lacks {len(missing)} of the treatments, such as {levels}"
            why += "".join(f"; {note}" for note in report.notes)
        if not why and report.machine is not None:
            changed = changed_libraries(self.store.folder, report.machine)
            if changed:
                why = f"{', '.join(changed)} is another library there than when it made runs before"
        if why or report.machine is None:
            self.tell(f"{report.host} is not used: {why}")
            return None
        self.store.add_host(report.machine)
        cpus = f"{report.machine.cpus} processors, {report.machine.cpu}"
        self.tell(f"{report.host} takes part: {cpus}")
        for each in report.machine.allocators:
            self._compare(report.host, each.name, each.sha256, each.version)
        return report.host

    def _compare(self, host: str, name: str, sha256: str, version: str) -> None:
        own = {each.name: each for each in self.setup.machine.allocators}.get(name)
        if own is not None and sha256 != own.sha256 and (host, name) not in self._compared:
            self._compared.add((host, name))
            what = f"{version}, here {own.version}" if version != own.version else "another build"
            self.tell(f"{name} on {host} is not the same as here: {what}")

    def tell(self, sentence: str) -> None:
        """On standard error."""
        if not self.quiet:
            make_console(sys.stderr).print(sentence, soft_wrap=True)


def conduct_at(
    meeting: Meeting, setup: Setup, store: Store, schedule: Spread, *, quiet: bool
) -> Ending:
    """Make the missing runs on the hosts that connect."""
    crew = StudyCrew(setup, store, quiet)
    crew.connect(meeting.client)
    crew.tell(f"waiting for hosts at {meeting.address}: {meeting.invitation}")
    if meeting.certificate is not None:
        crew.tell(
            f"copy {meeting.certificate} to each of these hosts, readable by you alone; the file "
            "is removed when this command ends"
        )
    with (
        StudyDisplay(schedule, store.made, quiet=quiet) as display,
    ):

        def over(assignment: Assignment, run: StudyRun) -> None:
            store.keep(run)
            display.over(assignment, run)
            schedule.over(assignment, run)

        return conduct_spread(schedule, crew, over=over, begins=display.begins)
