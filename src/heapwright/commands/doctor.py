# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The work of `heapwright doctor`, after its options are read: inspect, measure noise, print.

The noise is measured with the runner and the witness of `compare`, under the C library's malloc. It
is therefore the noise of a comparison.
"""

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic

from rich.console import Console

from heapwright.analysis.noise import noise_of
from heapwright.artefacts.checkup.document import Noise
from heapwright.artefacts.run.journal import journal_folders
from heapwright.artefacts.run.provenance import Allocator, inherited_settings, read_environment
from heapwright.base import native
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.commands.output import Outputs
from heapwright.commands.setup import discovering
from heapwright.commands.text import printing
from heapwright.doctor.examine import checkup, examine
from heapwright.doctor.machine import Machine
from heapwright.doctor.rights import perf_error, ptrace_error
from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.runner import RawRun, RunSpec, run_once, with_preload
from heapwright.report.console import make_console
from heapwright.report.doctor import print_checkup

OPERATIONS = "3000000"
"""Length of the short program: some tens of milliseconds, like the shortest compared programs."""
FEWEST_RUNS = 6
MOST_RUNS = 100_000


@dataclass(frozen=True, slots=True)
class Options:
    """The command line, read."""

    command: tuple[str, ...] | None
    budget_s: float
    seconds: float
    quick: bool
    json_file: str | None
    quiet: bool


def run_checkup(options: Options) -> bool:
    """Run the verb; return whether the machine is fit. Raises HeapwrightError."""
    outputs = Outputs(json=options.json_file)
    environment = dict(os.environ)
    machine = Machine(
        settings={
            name: value
            for name, value in inherited_settings(environment).items()
            if name != "LD_LIBRARY_PATH"
        },
        ptrace_error=ptrace_error(),
        perf_error=perf_error(),
        folders=tuple(dict.fromkeys((Path(tempfile.gettempdir()), *journal_folders(), Path.cwd()))),
    )
    before = examine(machine)  # read load and stalls before this verb adds its own
    allocators = _allocators(environment)
    machine = replace(machine, earlier_stat=machine.text("proc/stat"), allocators=allocators)
    with PreloadPaths() as paths:
        run = _runner(options.command or _short_program(), environment, paths)
        seen = run()
        noise = None if options.quick else _noise(options, run)
    machine = replace(machine, counters=frozenset(seen.counters))
    checks = [
        first if first.name in {"load", "stalls"} else then
        for first, then in zip(before, examine(machine), strict=True)
    ]
    found = checkup(read_environment(list(allocators), environment), checks, noise)
    failure = outputs.write(json=found.to_json)
    with printing():
        print_checkup(make_console(outputs.stream), found, quiet=options.quiet)
    if failure is not None:
        raise failure
    return found.fit


def _allocators(environment: dict[str, str]) -> tuple[Allocator, ...]:
    with discovering(environment) as discovery:
        return tuple(discovery.everything())


def _short_program() -> tuple[str, ...]:
    return (str(native.workload("loop")), "--threads", "1", "--iterations", OPERATIONS)


def _runner(
    command: tuple[str, ...], environment: dict[str, str], paths: PreloadPaths
) -> Callable[[], RawRun]:
    """Makes one run; raises HeapwrightError if it does not end well."""
    whole = with_preload(environment, paths.of(native.witness()))

    def run() -> RawRun:
        raw = run_once(RunSpec(command=command, environment=whole, counters=True))
        if raw.spawn_error is not None:
            raise HeapwrightError(f"{command[0]} cannot be run: {raw.spawn_error}")
        if raw.exit_status != 0 or raw.wall_s is None:
            how = f"signal {raw.signal}" if raw.signal else f"status {raw.exit_status}"
            said = raw.stderr_tail.strip().splitlines()
            raise HeapwrightError(
                f"noise cannot be measured: {command[0]} ended with {how}",
                said[-1] if said else "",
                exit_code=ExitCode.NOTHING_COMPARED,
            )
        return raw

    return run


def _noise(options: Options, run: Callable[[], RawRun]) -> Noise:
    """Run for the requested time. The warm-up run was made before."""
    runs: list[RawRun] = []
    begun = monotonic()
    waiting = Console(stderr=True)
    with waiting.status(f"measuring noise for {options.seconds:g} s"):
        while len(runs) < FEWEST_RUNS or (
            monotonic() - begun < options.seconds and len(runs) < MOST_RUNS
        ):
            runs.append(run())
    return noise_of(
        options.command or ("loop",),
        [(each.wall_s or 0.0, (each.user_s or 0.0) + (each.sys_s or 0.0)) for each in runs],
        budget_s=options.budget_s,
        faults=sum(each.major_faults or 0 for each in runs),
        own_length_first=options.command is not None,
    )
