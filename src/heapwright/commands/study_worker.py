# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Makes runs on this host for a study that another host leads, and describes this host.

A Dask worker calls these functions. Arguments and results are text. The study is set up from the
same text as on the leading host. Treatments and their ids are equal. Paths are those of this host.
A host makes one run at a time for all its workers and all leading hosts: a file is locked around
each run. The kernel releases the lock when a worker ends.
"""

import atexit
import fcntl
import hashlib
import os
import platform
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock

from pydantic import BaseModel, ConfigDict

from heapwright import __version__
from heapwright.artefacts.run.provenance import Environment
from heapwright.artefacts.study.file import parse_study
from heapwright.artefacts.study_results.runs import StudyRun
from heapwright.base.errors import HeapwrightError
from heapwright.base.scratch import Scratch
from heapwright.cluster.certificate import kept
from heapwright.cluster.dask_package import forget_settings, need_dask
from heapwright.cluster.worker import WAITED_S, read_address, serve
from heapwright.commands.study_setup import set_up
from heapwright.experiment.blocks import Assignment
from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.study_measurement import StudyMeasurement
from heapwright.experiment.treatments import Treatment
from heapwright.report.console import make_console

HOST = "HEAPWRIGHT_HOST"


class _Message(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Job(_Message):
    """A study, as it is sent to the hosts."""

    version: str = __version__
    text: str
    where: str
    folder: str
    scale: str | None
    seed: int

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()


class Report(_Message):
    """The description of a host."""

    host: str
    version: str = __version__
    machine: Environment | None = None
    treatments: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    refused: str = ""
    """Why it can make no runs of this study."""


class Order(_Message):
    """One run to make."""

    treatment: str
    block: int
    position: int
    warmup: bool
    timeout_s: float | None
    attempt: int


class Outcome(_Message):
    """The run; or why it could not be made."""

    run: StudyRun | None = None
    error: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class _Standing:
    """A study that is set up in this process."""

    digest: str
    treatments: dict[str, Treatment]
    machine: Environment
    measurement: StudyMeasurement
    notes: tuple[str, ...]
    stack: ExitStack

    def close(self) -> None:
        try:
            self.measurement.close()
        finally:
            self.stack.close()


_standing: list[_Standing] = []
"""At most one: a worker serves one study at a time."""
_lock = Lock()
_reporting: list[int] = []
"""The number of runs made here; empty in a worker that heapwright did not start."""


def host_name() -> str:
    """The name of this host in results; HEAPWRIGHT_HOST replaces it."""
    return os.environ.get(HOST) or platform.node()


def serve_study(address: str, certificate: str | None) -> None:
    """`heapwright study worker`: work for the scheduler at `address`. Raises HeapwrightError.

    `certificate` is the study's, a file or `-` for standard input.
    """
    need_dask()
    with ExitStack() as stack:
        file = None if certificate is None else Path(certificate)
        if certificate == "-":
            file = kept(stack.enter_context(Scratch()), sys.stdin.buffer.read())
        place = read_address(address, file)
        _reporting.append(0)
        _tell(f"looking for the scheduler at {place}, for {WAITED_S} s at most")
        serve(place, lambda: _tell(f"connected to {place} as {host_name()}"), file)
    runs = _reporting[0]
    _tell(f"done: {runs} {'run was' if runs == 1 else 'runs were'} made here")


def _tell(sentence: str) -> None:
    """Print to standard error, if heapwright started this worker."""
    if _reporting:
        make_console(sys.stderr).print(sentence, soft_wrap=True, highlight=False)


def greet(job: str) -> str:
    """Set the study up and say what this host can do of it."""
    try:
        wanted = Job.model_validate_json(job)
    except ValueError:
        refused = f"it has version {__version__} of heapwright"
        return Report(host=host_name(), refused=refused).model_dump_json()
    with _lock:
        try:
            standing = _set_up(wanted)
        except HeapwrightError as error:
            return Report(host=host_name(), refused=error.message).model_dump_json()
    return Report(
        host=host_name(),
        machine=standing.machine,
        treatments=tuple(standing.treatments),
        notes=standing.notes,
    ).model_dump_json()


def make_run(job: str, order: str) -> str:
    """Make one run. The reason why a run cannot be made is also an answer."""
    wanted = Order.model_validate_json(order)
    with _lock:
        try:
            standing = _set_up(Job.model_validate_json(job))
            assignment = Assignment(
                standing.treatments[wanted.treatment],
                wanted.block,
                wanted.position,
                wanted.warmup,
                wanted.timeout_s,
            )
            _tell(f"running block {wanted.block}: {_levels(assignment.treatment)}")
            with alone():
                run = standing.measurement.execute(assignment)
        except HeapwrightError as error:
            return Outcome(error=error.message, hint=error.hint).model_dump_json()
    if _reporting:
        _reporting[0] += 1
    return Outcome(run=run.model_copy(update={"attempt": wanted.attempt})).model_dump_json()


def _levels(treatment: Treatment) -> str:
    return ", ".join(treatment.levels.values()) or treatment.allocator.name


def leave() -> None:
    """The study is over, or continues on other hosts."""
    with _lock:
        while _standing:
            _standing.pop().close()


def _set_up(job: Job) -> _Standing:
    """The study, set up. An earlier study is closed first."""
    if _standing and _standing[0].digest == job.digest:
        return _standing[0]
    while _standing:
        _standing.pop().close()
    if job.version != __version__:
        raise HeapwrightError(f"it has version {__version__} of heapwright, not {job.version}")
    forget_settings()
    file = parse_study(job.text, job.where, job.scale, Path(job.folder))
    with ExitStack() as stack:
        paths = stack.enter_context(PreloadPaths())
        setup = stack.enter_context(set_up(file, job.seed, paths))
        name = host_name()
        standing = _Standing(
            digest=job.digest,
            treatments={each.level: each for each in setup.treatments},
            machine=setup.machine.model_copy(update={"host": name}),
            measurement=StudyMeasurement(replace(setup.job, host=name), paths),
            notes=setup.notes,
            stack=stack.pop_all(),
        )
    _standing.append(standing)
    return standing


@contextmanager
def alone() -> Iterator[None]:
    """Allow one run at a time on this host, for all processes."""
    safe = "".join(each if each.isalnum() or each in "-_." else "_" for each in host_name())
    path = Path(tempfile.gettempdir()) / f"heapwright-{os.getuid()}-{safe}.lock"
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise HeapwrightError(f"{path} cannot be opened: {error.strerror or error}") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _leave_at_exit() -> None:
    """An unfinished run is abandoned when the process ends."""
    if _lock.acquire(blocking=False):
        _lock.release()
        leave()


atexit.register(_leave_at_exit)
