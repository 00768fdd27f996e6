# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Notes on a comparison besides its figures: failures, neighbours, the machine.

Each note is one line with a fact that could change how the figures are read. A comparison without
failures on a quiet machine has almost none.
"""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from heapwright.artefacts.comparison.document import Comparison, label_of
from heapwright.artefacts.comparison.levels import views
from heapwright.artefacts.run.foreign_heaps import GO, foreign_heap_of, is_opened
from heapwright.artefacts.run.measured import Outcome, Run
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.commands.disturbance_notes import disturbance_notes
from heapwright.commands.drift_notes import drift_notes
from heapwright.experiment.blocks import GIVE_UP_AFTER
from heapwright.experiment.comparison import Result
from heapwright.experiment.exact import split_remedy
from heapwright.experiment.obstacles import is_go_program

OWN_PART = re.compile(r"^[^;]*; |, [0-9]+ bytes")
"""The part of the method of a peak that differs between runs: the chosen one of two figures, and
the other."""
SAMPLED = re.compile(r"(?<=sampled every )[0-9]+(?= ms)")
"""The interval at which the memory of a run was read. Runs differ, so a note shows the range."""
TELLING = re.compile(r"\b(fatal|error|exception|abort(ed)?|free|malloc)\b", re.IGNORECASE)
NEEDS_TERMINAL = re.compile(
    r"inappropriate ioctl|ENOTTY|/dev/tty|\bnot a (tty|terminal)\b|needs? a (tty|terminal)"
    r"|(requires?|must be run (in|on|from)) an? (\w+ )?(tty|terminal)|no controlling terminal",
    re.IGNORECASE,
)
"""Messages of programs that find no terminal."""
TERMINAL_HINT = (
    "the command needs a terminal, and a measured run has none. Use its batch mode, give it input "
    "with --stdin FILE, or run it as: script -qec COMMAND /dev/null"
)
SHORT_S = 0.02
"""The start of a process takes one to five milliseconds."""
ENDS_TOLD = 3
"""Candidates whose failures the error lists if nothing could be compared."""
HELPERS_TOLD = 3
"""Kinds of processes without the preload that notes list. Further kinds are only counted."""


def notes_on(comparison: Comparison, result: Result) -> list[str]:
    """All notes on the runs, the most serious first."""
    return [
        *_bad_ends(comparison.runs),
        *_unfinished(comparison, result),
        *_given_up(result),
        *_helpers(comparison.runs),
        *_own_heaps(comparison),
        *(() if comparison.design.exact else _of_times(comparison)),
    ]


def _of_times(comparison: Comparison) -> list[str]:
    """Notes on what disturbs times and memory."""
    return [
        *_short_runs(comparison),
        *drift_notes(comparison),
        *disturbance_notes(comparison),
        *_methods(comparison),
    ]


def _short_runs(comparison: Comparison) -> Iterator[str]:
    """The commands whose runs are little more than the start of a process. The time of a replay or
    a server has no start in it."""
    if comparison.replay is not None or comparison.program is not None:
        return
    for name, view in views(comparison):
        base = view.treatments[0].key
        own = [run for run in view.runs if (run.allocator, run.level) == base and not run.warmup]
        times = [run.wall_s for run in own if run.outcome is Outcome.OK and run.wall_s]
        if times and median(times) < SHORT_S:
            where = f" at {name}" if name else ""
            yield (
                f"a run{where} lasts {1000 * median(times):.2g} ms, much of it the start of the "
                "process: give the command more work, or count instructions with --exact"
            )


def why_nothing(comparison: Comparison) -> HeapwrightError:
    """The error that says why nothing could be compared."""
    base = comparison.treatments[0]
    own = [run for run in comparison.runs if (run.allocator, run.level) == base.key]
    bad = [run for run in own if run.outcome is not Outcome.OK]
    if not bad:
        others = {run.outcome for run in comparison.runs if run.outcome is not Outcome.OK}
        why = (
            f"no run under anything but {base.label} was good ({', '.join(sorted(others))})"
            if others
            else comparison.design.stopped_because
        )
        return HeapwrightError(
            f"nothing could be compared: {why}",
            _how_they_ended(comparison) if others else "",
            exit_code=ExitCode.NOTHING_COMPARED,
        )
    run = bad[-1]
    detail, remedy = split_remedy(run.detail)
    how, *said = _lines(detail) or ["it says nothing"]
    hints = [f"| {line}" for line in said]
    if NEEDS_TERMINAL.search(run.detail):
        hints.append(TERMINAL_HINT)
    alone = comparison.program is None  # the program file defines its exit status
    if remedy:
        hints.append(remedy)
    elif run.outcome is Outcome.FAILED and run.exit_status is not None and alone:
        hints.append(f"if that is how it should end, add --expect-exit {run.exit_status}")
    elif run.outcome is Outcome.TIMEOUT:
        hints.append("give it more time with --timeout")
    elif run.outcome is Outcome.NOT_INTERPOSED:
        if preload := comparison.environment.settings.get("LD_PRELOAD"):
            hints.append(f"your own LD_PRELOAD stays in force: run without it ({preload})")
        hints.append("choose what the ratios refer to with --baseline")
    return HeapwrightError(
        f"nothing could be compared: under {base.label}, the baseline, the command ended as "
        f"{run.outcome}: {how}",
        "\n".join(hints),
        exit_code=ExitCode.NOTHING_COMPARED,
    )


def _how_they_ended(comparison: Comparison) -> str:
    """A line for each of the first candidates that failed, and what to do."""
    ends = list(_bad_ends(comparison.runs))
    lines = ends[:ENDS_TOLD]
    if len(ends) > ENDS_TOLD:
        lines.append(f"{len(ends) - ENDS_TOLD} more ended badly")
    if any(NEEDS_TERMINAL.search(run.detail) for run in comparison.runs):
        lines.append(TERMINAL_HINT)
    return "\n".join([*lines, "run one of them by itself to see why, or name others"])


def _bad_ends(runs: Sequence[Run]) -> Iterator[str]:
    """Each kind of failure of a treatment, once, with its count and its message."""
    bad: dict[tuple[str, Outcome], list[Run]] = {}
    for run in runs:
        if run.outcome is not Outcome.OK:
            bad.setdefault((label_of(run.allocator, run.level), run.outcome), []).append(run)
    for (label, outcome), same in bad.items():
        times = "once" if len(same) == 1 else f"{len(same)} times"
        yield f"{label}: {outcome} {times}: {_short(same[0].detail)}"


def _short(detail: str) -> str:
    """How it ended, and the most useful line of its output: one with an error, else the last.

    Advice follows if there is any.
    """
    detail, remedy = split_remedy(detail)
    how, *said = _lines(detail) or ["it says nothing"]
    if said:
        telling = next((line for line in said if TELLING.search(line)), said[-1])
        how = f"{how}; it said: {telling.strip()}"
    return f"{how}. {remedy[0].upper()}{remedy[1:]}" if remedy else how


def _lines(detail: str) -> list[str]:
    return [line.rstrip() for line in detail.splitlines() if line.strip()]


def _given_up(result: Result) -> Iterator[str]:
    for given_up in result.given_up:
        where = "the warm-up" if given_up.block < 1 else f"block {given_up.block}"
        label = label_of(*given_up.key)
        yield f"{label} was given up after {where}: it ended badly {GIVE_UP_AFTER} times in a row"


def _unfinished(comparison: Comparison, result: Result) -> Iterator[str]:
    """The state of a race that was interrupted."""
    for name, view in views(comparison) if result.interrupted else ():
        if view.race is not None and view.race.named is None:
            where = f" at {name}" if name else ""
            yield (
                f"interrupted{where} after block {view.design.blocks}, still in the race: "
                f"{', '.join(view.race.contenders) or 'none'}"
            )


def _helpers(runs: Sequence[Run]) -> Iterator[str]:
    """Processes of good runs that did not load the allocator; their share is too small to
    matter."""
    seen: dict[str, list[str]] = {}
    for run in runs:
        if run.outcome is Outcome.OK and run.detail:
            share, _, who = run.detail.partition(": ")
            for piece in (who or share).split("; "):
                seen.setdefault(piece, []).append(label_of(run.allocator, run.level))
    for piece, labels in list(seen.items())[:HELPERS_TOLD]:
        yield f"too small to matter: {piece} (under {', '.join(dict.fromkeys(labels))})"
    if len(seen) > HELPERS_TOLD:
        yield f"{len(seen) - HELPERS_TOLD} more of the kind are in the runs"


def _own_heaps(comparison: Comparison) -> Iterator[str]:
    """Runtimes that serve most allocations without malloc, unless a variable changes that."""
    told: set[str] = set()
    for run in comparison.runs:
        for process in run.processes:
            heap = foreign_heap_of(process.exe)
            if heap is None and process.exe and is_go_program(Path(process.exe)):
                heap = GO
            if heap is None or heap.runtime in told or is_opened(heap, os.environ):
                continue
            told.add(heap.runtime)
            yield (
                f"{Path(process.exe).name} keeps objects in a heap of {heap.runtime} "
                f"({heap.heap}), which no allocator here serves; look inside: {heap.advice}"
            )


def _methods(comparison: Comparison) -> Iterator[str]:
    """The methods behind the figures of the table."""
    if any(run.outcome is Outcome.TIMEOUT for run in comparison.runs):
        yield f"a run had {comparison.design.timeout_s:.3g} s at most (--timeout)"
    methods = [run.peak_rss_method for run in comparison.runs if run.peak_rss_method]
    intervals: dict[str, list[int]] = {}
    for method in methods:
        common = SAMPLED.sub("{}", OWN_PART.sub("", method))
        intervals.setdefault(common, []).extend(map(int, SAMPLED.findall(method)))
    for common, every in intervals.items():
        span = " to ".join(map(str, sorted({min(every), max(every)}))) if every else ""
        yield f"peak memory: {common.replace('{}', span)}"
