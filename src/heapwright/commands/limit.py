# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The work of `heapwright limit`, after its options are read: run, count, judge, print.

The command runs once. A preloaded library counts. The recorder beside it writes a trace with
stacks, which is read only if a budget is exceeded or names a function.
"""

import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from heapwright import __version__
from heapwright.artefacts.limit.document import (
    Budget,
    Judged,
    Kind,
    Limit,
    ProcessFigures,
    Verdict,
)
from heapwright.artefacts.profile.document import Profile
from heapwright.artefacts.trace.file import STOPPED, TraceProcess, trace_info
from heapwright.base import native
from heapwright.base.errors import ExitCode
from heapwright.base.quantities import several
from heapwright.base.scratch import Scratch
from heapwright.commands.coverage import coverage_of
from heapwright.commands.output import Outputs
from heapwright.commands.record import end_of, record_command
from heapwright.commands.text import printing
from heapwright.explain import leakscan
from heapwright.limit import counts
from heapwright.limit.functions import hint_of, matcher
from heapwright.limit.judge import judged, judged_function, sites_at_fault
from heapwright.limit.unreached import unreached
from heapwright.profile.run import profile_trace
from heapwright.profile.symbols.existence import defines
from heapwright.record.recorder import HowToRecord, Outcome
from heapwright.report.console import make_console
from heapwright.report.limit import print_limit


@dataclass(frozen=True, slots=True)
class Options:
    """The command line, read."""

    command: tuple[str, ...]
    budgets: tuple[Budget, ...]
    sites: bool
    follow: bool
    json_file: str | None
    output: Path | None
    quiet: bool


def run_limit(options: Options) -> int:
    """Run the verb; return the exit status. Raises HeapwrightError for a refused request."""
    outputs = Outputs(json=options.json_file)
    if options.output is not None:
        outputs.beside(str(options.output.absolute()))  # refuses what is not writable
    with Scratch() as folder:
        found = _measured(options, folder)
    failure = outputs.write(json=found.to_json)
    with printing():
        print_limit(make_console(sys.stderr), found, quiet=options.quiet)
    if failure is not None:
        raise failure
    return found.exit_status or int(ExitCode.OK if found.within else ExitCode.NOTHING_COMPARED)


def _measured(options: Options, folder: Path) -> Limit:
    """Run the command and judge it."""
    trace, file = options.output or folder / "trace", folder / "counts"
    counts.make_file(file)
    behind, variables = [native.library(counts.LIBRARY)], {counts.VARIABLE: str(file)}
    reaches: Mapping[int, leakscan.Reach] = {}
    with ExitStack() as stack:
        if any(each.kind is Kind.LEAKS for each in options.budgets):
            listener = stack.enter_context(leakscan.Listener(trace))
            reaches = listener.found
            behind.append(native.library(leakscan.LIBRARY))
            variables[leakscan.VARIABLE] = str(listener.address)
        outcome, notes = record_command(
            options.command,
            trace,
            HowToRecord(stacks=True, follow=options.follow, system=False),
            behind=tuple(behind),
            variables=variables,
            recorded=options.sites,
        )
    return _Judge(options, trace, outcome, reaches).answer(file, notes)


Image = tuple[int, int]
"""A program image: its pid, and its number among the images with this pid."""


class _Judge:
    """Judges one command by its counts and its trace."""

    def __init__(
        self,
        options: Options,
        trace: Path,
        outcome: Outcome,
        reaches: Mapping[int, leakscan.Reach],
    ) -> None:
        self._options = options
        self._trace = trace
        self._outcome = outcome
        self._reaches = reaches
        self._info = trace_info(trace)
        self._images = _images(self._info.processes)
        self._calling = {each.process for each in self._info.threads if each.events}
        self._named: dict[int, Profile] = {}

    def answer(self, file: Path, notes: tuple[str, ...]) -> Limit:
        counted = counts.read_file(file)
        if not self._options.follow:
            counted = tuple(each for each in counted if each.pid == counted[0].pid)
        coverage = coverage_of(self._info)
        remarks = () if coverage is None else coverage.remarks()
        processes = tuple(self._figures(number, each) for number, each in enumerate(counted))
        missing = counts.without_page(file)
        unknown = (
            f"{several(missing, 'process', 'processes')} could not be counted" if missing else ""
        )
        only = None if self._options.follow or not counted else counted[0].pid
        uncounted = unknown or unreached(coverage, only, "was not counted")
        unsearched = self._recording() or unknown or unreached(coverage, only, "was not searched")
        budgets = tuple(
            self._budget(
                each, processes, counted, unsearched if each.kind is Kind.LEAKS else uncounted
            )
            for each in self._options.budgets
        )
        ended = tuple(end_of(self._outcome))
        if any(not each.exact for each in counted):
            notes = (*notes, "sizes are usable sizes, because address space is limited")
        return Limit(
            heapwright_version=__version__,
            command=self._options.command,
            exit_status=self._outcome.status,
            within=bool(counted) and all(each.verdict is Verdict.WITHIN for each in budgets),
            budgets=budgets,
            processes=processes,
            notes=(*(each for each in notes if each not in ended), *remarks, *ended),
        )

    def _figures(self, number: int, counted: counts.Counts) -> ProcessFigures:
        process = self._images.get((counted.pid, counted.image))
        blocks, lost = self._leaks(process, counted)
        return ProcessFigures(
            process=number,
            pid=counted.pid,
            cause=counted.cause,
            command=(process.arguments if process else ()) or (counted.name,),
            allocations=counted.allocations,
            bytes=counted.bytes,
            peak_bytes=counted.peak_bytes,
            leaked_blocks=blocks,
            leaked_bytes=lost,
        )

    def _leaks(
        self, process: TraceProcess | None, counted: counts.Counts
    ) -> tuple[int | None, int | None]:
        if counted.allocations == 0 or (process is not None and process.replaced):
            return 0, 0  # exec ends the memory of an image
        reach = None if process is None else self._reaches.get(process.process)
        if reach is None or self._recording():
            return None, None  # without its last calls a trace has wrong live blocks
        return reach.summary.unreachable_blocks, reach.summary.unreachable_bytes

    def _budget(
        self,
        budget: Budget,
        processes: tuple[ProcessFigures, ...],
        counted: tuple[counts.Counts, ...],
        unknown: str,
    ) -> Judged:
        if budget.kind is Kind.NO_ALLOC_IN:
            return self._function(budget, counted, unknown)
        found = judged(budget, processes, unknown)
        if found.verdict is not Verdict.EXCEEDED or found.process is None:
            return found
        chosen = counted[found.process]
        process = self._images.get((chosen.pid, chosen.image))
        if process is None or process.process not in self._calling:
            return found
        reach = self._reaches.get(process.process)
        lost = {} if reach is None else {place[1]: each for place, each in reach.lost.items()}
        amounts = {stack: (each.blocks, each.bytes) for stack, each in lost.items()}
        sites = sites_at_fault(budget, self._profile(process.process), amounts)
        return found.model_copy(update={"sites": sites})

    def _function(self, budget: Budget, counted: tuple[counts.Counts, ...], unknown: str) -> Judged:
        numbers = {
            number: process.process
            for number, each in enumerate(counted)
            if (process := self._images.get((each.pid, each.image))) is not None
            and process.process in self._calling
        }
        profiles = {number: self._profile(process) for number, process in numbers.items()}
        found = judged_function(budget, profiles, unknown or self._recording())
        if found.figure == 0 and found.verdict is Verdict.WITHIN:
            matches, part = matcher(budget.function), hint_of(budget.function)
            if not defines(self._files(), matches, part):
                reason = (
                    "no symbol table of the command has a function of this name; an inlined or "
                    "stripped function cannot be found"
                )
                update = {"verdict": Verdict.UNKNOWN, "figure": None, "reason": reason}
                return found.model_copy(update=update)
        return found

    def _recording(self) -> str:
        """Why the trace may lack calls; empty if it does not."""
        if self._info.stop != "none":
            return f"recording stopped early: {STOPPED[self._info.stop]}"
        lost = self._info.lost
        return f"{several(lost, 'call')} could not be recorded" if lost else ""

    def _files(self) -> Iterator[Path]:
        """The files that may define a function of the command: its programs and libraries."""
        names = dict.fromkeys(each.executable for each in self._info.processes)
        for profile in self._named.values():
            if profile.calls is not None:
                names |= dict.fromkeys(
                    each.path for each in profile.calls.objects if not each.function
                )
        return (Path(name) for name in names if name)

    def _profile(self, number: int) -> Profile:
        if number not in self._named:
            only = number if len(self._info.processes) > 1 else None
            self._named[number] = profile_trace(self._trace, only, every_site=True)
        return self._named[number]


def _images(processes: tuple[TraceProcess, ...]) -> dict[Image, TraceProcess]:
    """The processes of a trace, in the order of their starts."""
    seen: Counter[int] = Counter()
    found = {}
    for process in sorted(processes, key=lambda each: (each.start_ns, each.process)):
        found[process.pid, seen[process.pid]] = process
        seen[process.pid] += 1
    return found
