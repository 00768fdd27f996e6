# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Runs one server for hours, repeats its client, and samples its memory.

The server is started once, as for any run of its program, with the gauge preloaded behind its
allocator. Its client runs until the time is up. The last run of the client is then ended. The load
can change in two ways: by rests between client runs, and by a client parameter that changes each
time. Answers are checked after each run of the client, and at the end those that need the server.

Each sample goes to `keep` at once. After an interruption the samples so far remain. A server that
dies or a client that hangs is an outcome, and the series up to then remains.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from heapwright.artefacts.long_run.document import Load, Round, Sample
from heapwright.artefacts.program.model import Program, ProgramServer
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.base.scratch import Scratch
from heapwright.experiment.measurement import Specs
from heapwright.experiment.outcome import Classified
from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.program.gauge import Gauge, Told
from heapwright.experiment.program.resident import NOTHING, Resident, descendants, resident_of
from heapwright.experiment.program.service import stopped
from heapwright.experiment.program.session import DYING_S, FINE, Prepared, RunOfProgram
from heapwright.experiment.runner import PRELOAD, RunSpec, with_preload
from heapwright.experiment.server import Server
from heapwright.experiment.treatments import Treatment

SAMPLES = 2000
SHORTEST_S, LONGEST_S = 0.2, 60.0
RUNNER_MS = 1000.0
"""Interval at which heapwright-run samples for the proof."""
HOUR_S = 3600.0
ENDED = "client_cpu_s"
"""The figure of a client run that heapwright did not end."""
Keep = Callable[[Sample | Round], None]


def interval_of(load: Load) -> float:
    """The sampling interval: about a thousand samples in all, within sensible bounds."""
    return min(max(load.hours * HOUR_S / SAMPLES, SHORTEST_S), LONGEST_S)


def refuse(program: Program, load: Load) -> None:
    """Refuse a program that cannot run for hours. Raises HeapwrightError."""
    served = program.server
    if served is None or not served.preload:
        raise HeapwrightError(
            f"{program.name} is no server: a command that ends has no memory for hours",
            "`heapwright profile --program` has its memory over time",
        )
    if not load.vary:
        return
    name, template = load.vary, "{" + load.vary + "}"
    if name not in program.parameters:
        known = ", ".join(program.parameters) or "none"
        raise HeapwrightError(
            f"{program.name} has no parameter {name!r} that could change", f"there is: {known}"
        )
    if not any(template in word for word in program.command):
        raise HeapwrightError(f"the client of {program.name} does not depend on {name!r}")
    kept = served.model_dump_json(), program.data.model_dump_json() if program.data else ""
    if any(template in text for text in kept):
        raise HeapwrightError(
            f"{name!r} is also of the server or its data, which stay as they are",
            "vary a parameter of the client alone",
        )


@dataclass(slots=True)
class LongRunResult:
    """The result of a long run."""

    samples: list[Sample] = field(default_factory=list)
    rounds: list[Round] = field(default_factory=list)
    sources: set[str] = field(default_factory=set)
    named: Classified = FINE
    interrupted: bool = False
    silent: int = 0
    """Processes of the last sample that did not report live bytes."""


class LongRuns:
    """Makes long runs of a program."""

    def __init__(self, prepared: Prepared, specs: Specs, paths: PreloadPaths) -> None:
        self._prepared = prepared
        self._specs = specs
        self._paths = paths

    def take(self, treatment: Treatment, load: Load, keep: Keep) -> LongRunResult:
        """Make one long run. Raises HeapwrightError if it cannot be made; Ctrl-C ends it
        normally."""
        refuse(self._prepared.file.program, load)
        every = interval_of(load)
        with Scratch() as scratch, _gauge(scratch, every) as gauge:
            run = RunOfProgram(self._prepared, self._specs, treatment, None, scratch)
            served = self._prepared.file.program.server
            assert served is not None
            made = _LongRun(run, served, load, keep, gauge)
            made.over(self._gauged(run.spec_of(served), gauge))
            return made.taken

    def _gauged(self, spec: RunSpec, gauge: Gauge) -> RunSpec:
        """The preloads, with the gauge as the last."""
        own = {name: text for name, text in spec.environment.items() if name != PRELOAD}
        behind = [*spec.environment.get(PRELOAD, "").split(":"), self._paths.of(gauge.library)]
        environment = with_preload({**own, **gauge.variables}, *filter(None, behind))
        return replace(spec, environment=environment, interval_ms=RUNNER_MS)


class _LongRun:
    """A long run in progress."""

    def __init__(
        self, run: RunOfProgram, served: ProgramServer, load: Load, keep: Keep, gauge: Gauge
    ) -> None:
        self._run = run
        self._served = served
        self._load = load
        self._keep = keep
        self._gauge = gauge
        self._every = interval_of(load)
        self._ready = self._due = self._end = 0.0
        self._busy = False
        self.taken = LongRunResult()

    def over(self, spec: RunSpec) -> None:
        """All of it."""
        run, served = self._run, self._served
        patience = float(served.timeout_s)
        run.prepare()
        with Server(spec, run.binding.question(served.ready), patience, run.environment) as server:
            try:
                run.await_ready(server, served)
                self._ready = self._due = time.monotonic()
                self._end = self._ready + self._load.hours * HOUR_S
                for step in served.load:
                    run.load(run.binding.step(step))
                if run.taken.good:
                    self._loaded(server)
                run.ask()
            except KeyboardInterrupt:
                self.taken.interrupted = True
            if not run.taken.good:
                server.is_over(DYING_S)
            raw, end = stopped(server, served, run.binding, run.environment, run.scratch)
        run.read_log(served)
        run.taken.log = run.taken.log or raw.stderr_tail
        run.take_server(raw, end, preload=True)
        self.taken.named = run.taken.named

    def _loaded(self, server: Server) -> None:
        """Repeat the client; or wait if there is none."""
        self._look(server)
        if not self._load.client:
            self._rest(server, self._end)
            return
        values = self._load.values if self._load.vary else ("",)
        number = 0
        while self._run.taken.good and self._goes_on(server):
            value = values[number % len(values)]
            if value:
                self._run.binding.vary(self._load.vary, value)
            self._round(server, value)
            self._rest(server, time.monotonic() + self._load.rest_s)
            number += 1

    def _goes_on(self, server: Server) -> bool:
        return time.monotonic() < self._end and not server.is_over()

    def _round(self, server: Server, value: str) -> None:
        """One run of the client, checked if it was not cut off."""
        taken, began = self._run.taken, time.monotonic()
        taken.stdout, taken.responses = "", {}
        taken.figures.pop(ENDED, None)
        self._busy = True
        self._run.client(lambda: self._look(server) or not self._goes_on(server), under=False)
        self._busy = False
        if ENDED not in taken.figures:
            return
        self._run.read_log(self._served)
        self._run.judge()
        if taken.good:
            begin, end = began - self._ready, time.monotonic() - self._ready
            done = Round(begin_s=begin, end_s=end, value=value, responses=dict(taken.responses))
            self.taken.rounds.append(done)
            self._keep(done)

    def _rest(self, server: Server, until: float) -> None:
        """Nothing, until then."""
        until = min(until, self._end)
        self._look(server)
        while (left := until - time.monotonic()) > 0 and not server.is_over():
            time.sleep(min(left, max(self._due - time.monotonic(), 0.0) or SHORTEST_S))
            self._look(server)

    def _look(self, server: Server) -> bool:
        """Take a sample if it is due. Returns False, for use in a condition."""
        now = time.monotonic()
        if now >= self._due:
            self._due = max(self._due + self._every, now)
            pids = descendants(server.pid)
            seen = {pid: found for pid in pids if (found := resident_of(pid)) is not None}
            if seen:
                self._keep_sample(now - self._ready, list(seen.values()), self._gauge.told(seen))
        return False

    def _keep_sample(self, at: float, seen: list[Resident], told: dict[int, Told]) -> None:
        whole = sum(seen, NOTHING)
        live = sum(each.live for each in told.values()) if told else None
        owned = min(sum(each.taken for each in told.values()), whole.anonymous)
        sample = Sample(
            time_s=at,
            resident_bytes=whole.resident,
            anonymous_bytes=whole.anonymous,
            lazy_bytes=whole.lazy,
            swapped_bytes=whole.swapped,
            live_bytes=live,
            held_bytes=None if live is None else max(owned - live, 0),
            processes=len(seen),
            busy=self._busy,
        )
        self.taken.sources |= {each.source for each in told.values()}
        self.taken.silent = len(seen) - len(told)
        self.taken.samples.append(sample)
        self._keep(sample)


def _gauge(scratch: Path, every_s: float) -> Gauge:
    """Raises HeapwrightError where there is no room for its table."""
    try:
        return Gauge(scratch / "gauge", every_s)
    except OSError as error:
        raise HeapwrightError(
            f"the table of the gauge cannot be made in {scratch}: {error.strerror or error}",
            "TMPDIR names another place",
            exit_code=ExitCode.NOT_WRITTEN,
        ) from error
