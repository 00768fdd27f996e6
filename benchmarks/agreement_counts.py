# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Whether replays rank allocators as programs do, by counts that a busy machine does not disturb.

Each program and each form of its replay runs once under cachegrind and once plainly, under each
allocator. The counts of cachegrind are instructions and simulated misses, the plain run has the
page faults. The forms differ in the visits of objects for each microsecond of recorded work. The
work itself is one iteration for each millisecond: it would add the same number of instructions
under every allocator, which changes no order. The number of visits follows from the recorded times,
so other work on the machine does change it. A plan has fewer visits where it would have too many;
the tables mark these figures by a star.

    python benchmarks/agreement_counts.py --start -o counts.jsonl
    python benchmarks/agreement_counts.py gawk perl -o counts.jsonl [--scale small]
    python benchmarks/agreement_counts.py --page counts.jsonl

`--start` counts a replayer that starts and ends. Without these counts a replay is what `replay`
and `agree` take the time of: from the first call to the last.

Writes one line for each program, load and allocator. Needs valgrind and the installed tool.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

import numpy as np

from heapwright.analysis.agreement import tau_b
from heapwright.artefacts.program.request import ProgramRequest
from heapwright.artefacts.run.measured import Outcome, Run
from heapwright.base.native import program as native_program
from heapwright.commands.program_setup import set_up_program
from heapwright.commands.record import record_program
from heapwright.commands.setup import select
from heapwright.experiment.blocks import Assignment
from heapwright.experiment.comparison import Execute
from heapwright.experiment.measurement import Conditions, Measurement
from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.program.measurement import ProgramMeasurement
from heapwright.experiment.simulation import counts_in, words_under
from heapwright.experiment.treatments import Treatment
from heapwright.replay.prepare import run_words

ALLOCATORS = ("glibc", "jemalloc", "tcmalloc", "mimalloc", "hoard", "granary")
VISITS = (1, 10, 100)
"""For each microsecond of work."""
REPLAY = "replay"
PROGRAM = "program"
START = "start"
CALLS_ONLY = "replay without its start"
STAR = r"\*"
FIRST_MISS, LAST_MISS, FAULT = 10, 100, 1500
"""Cycles that a miss of the first and of the last level, and a page fault, are taken to cost."""
COSTS = ("instructions", "instructions and misses", "instructions, misses and page faults")


def cost(counts: Mapping[str, float], what: str) -> float:
    """One of `COSTS`; each contains those before it."""
    found = counts["Ir"]
    if what != COSTS[0]:
        found += FIRST_MISS * (counts["I1mr"] + counts["D1mr"] + counts["D1mw"])
        found += LAST_MISS * (counts["ILmr"] + counts["DLmr"] + counts["DLmw"])
    if what == COSTS[2]:
        found += FAULT * counts["faults"]
    return found


def done(execute: Execute, treatment: Treatment) -> Run:
    """A run that ended well."""
    run = execute(Assignment(treatment, 0, 0, False, 600.0))
    if run.outcome is not Outcome.OK:
        raise RuntimeError(f"{treatment.allocator.name}: {run.outcome} {run.detail}")
    return run


def counted(execute: Execute, treatment: Treatment) -> dict[str, float]:
    """Cachegrind's counts of one run, and the page faults of another."""
    with TemporaryDirectory(prefix="heapwright-") as folder:
        words = words_under("cachegrind", (), Path(folder))
        done(execute, replace(treatment, prefix=words))
        counts = counts_in(Path(folder))
    return {**counts, "faults": float(done(execute, treatment).minor_faults or 0)}


def plan_of(trace: Path, plan: Path, visits: int) -> Mapping[str, object]:
    """Prepares a replay with next to no work between calls, and that many visits."""
    words = [str(native_program("replay")), "prepare", str(trace), "-o", str(plan)]
    if visits:
        words += ["--gaps", "recorded", "--iterations", "1", "--visits", str(1000 * visits)]
    said = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    found: Mapping[str, object] = json.loads(said)
    return found


def loads_of(
    asked: ProgramRequest, folder: Path, paths: PreloadPaths, visits: Sequence[int]
) -> Iterator[tuple[str, Execute, Mapping[str, object]]]:
    """The program and its replays."""
    setup = set_up_program(asked, os.environ)
    yield PROGRAM, ProgramMeasurement(setup.prepared, setup.specs(paths)).execute, {}
    trace = folder / "trace"
    outcome, notes = record_program(asked, trace)
    if outcome.failed:
        raise RuntimeError(f"{asked.name} could not be recorded: {notes}")
    for rate in (0, *visits):
        plan = folder / f"plan-{rate}"
        about = plan_of(trace, plan, rate)
        conditions = Conditions(run_words(plan), dict(os.environ), Path.cwd())
        name = f"{REPLAY}, {rate} visits" if rate else REPLAY
        yield name, Measurement(conditions, paths).execute, about


def measure_start(allocators: Sequence[str]) -> Iterator[dict[str, object]]:
    """The lines of a replayer that does nothing."""
    with PreloadPaths() as paths:
        selection = select(allocators, (), ALLOCATORS[0], dict(os.environ), paths)
        words = (str(native_program("replay")), "--help")
        execute = Measurement(Conditions(words, dict(os.environ), Path.cwd()), paths).execute
        for treatment in selection.treatments:
            name = treatment.allocator.name
            counts = counted(execute, treatment)
            yield {"program": START, "load": START, "allocator": name, "counts": counts}


def measure(
    asked: ProgramRequest, allocators: Sequence[str], visits: Sequence[int]
) -> Iterator[dict[str, object]]:
    """The lines of one program."""
    with PreloadPaths() as paths, TemporaryDirectory(prefix="heapwright-") as name:
        selection = select(allocators, (), ALLOCATORS[0], dict(os.environ), paths)
        for load, execute, about in loads_of(asked, Path(name), paths, visits):
            shown = {key: about[key] for key in ("events", "threads", "between") if key in about}
            for treatment in selection.treatments:
                yield {
                    "program": asked.name,
                    "parameters": asked.parameters,
                    "load": load,
                    "allocator": treatment.allocator.name,
                    **shown,
                    "counts": counted(execute, treatment),
                }


Table = dict[str, dict[str, dict[str, Mapping[str, float]]]]
"""Program, load, allocator: counts."""
Pair = tuple[str, str]
"""Program and load."""


def lowered(lines: Sequence[str]) -> set[Pair]:
    """Where the plan has fewer visits than the load's name says."""
    found = set()
    for line in map(json.loads, lines):
        used = (line.get("between") or {}).get("visits_per_ms", 0)
        if used < 1000 * _rate(line["load"]):
            found.add((line["program"], line["load"]))
    return found


def table_of(lines: Sequence[str]) -> Table:
    """All counts, and those of the plain replays without their start."""
    found: Table = {}
    for line in map(json.loads, lines):
        load = found.setdefault(line["program"], {}).setdefault(line["load"], {})
        load[line["allocator"]] = line["counts"]
    start = found.pop(START, {}).get(START, {})
    for loads in found.values():
        if start and REPLAY in loads:
            loads[CALLS_ONLY] = {
                name: {event: counts[event] - start[name][event] for event in counts}
                for name, counts in loads[REPLAY].items()
                if name in start
            }
    return found


def tau(loads: Mapping[str, Mapping[str, Mapping[str, float]]], load: str, what: str) -> float:
    """Kendall's tau-b of a load with the program, over all allocators that both have."""
    names = sorted(loads[PROGRAM].keys() & loads[load].keys())
    one, other = (
        np.array([[cost(loads[which][name], what) for name in names]]) for which in (PROGRAM, load)
    )
    return float(tau_b(one, other)[0])


def _rate(load: str) -> int:
    rate = load.removeprefix(f"{REPLAY}, ").split()[0]
    return int(rate) if rate.isdigit() else 0


def _order(load: str) -> tuple[bool, int]:
    return load != CALLS_ONLY, _rate(load)


def page(table: Table, fewer: Collection[Pair] = ()) -> str:
    """Tables of tau by cost, with means of what there is. `fewer` are marked."""
    loads = sorted({load for each in table.values() for load in each} - {PROGRAM}, key=_order)
    missing = [
        (name, load)
        for name, found in table.items()
        for load in (PROGRAM, *loads)
        if load not in found
    ]
    parts = []
    for what in COSTS:
        taus = {
            (name, load): tau(found, load, what)
            for name, found in table.items()
            for load in loads
            if PROGRAM in found and load in found
        }
        rows = {
            name: [
                f"{taus[name, load]:.2f}{STAR if (name, load) in fewer else ''}"
                if (name, load) in taus
                else "-"
                for load in loads
            ]
            for name in table
        }
        columns = [[taus[name, load] for name in table if (name, load) in taus] for load in loads]
        rows["mean"] = [f"{fmean(column):.2f}" if column else "-" for column in columns]
        parts.append(
            "\n".join(
                (
                    f"## Ranks by {what}",
                    "",
                    f"| program | {' | '.join(loads)} |",
                    f"|---|{'---|' * len(loads)}",
                    *(f"| {name} | {' | '.join(row)} |" for name, row in rows.items()),
                )
            )
        )
    if missing:
        parts.append(f"There are no counts of {'; '.join(map(': '.join, missing))}.")
    return "\n\n".join(parts) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--start", action="store_true", help="count a replayer that does nothing")
    parser.add_argument("--scale", default="small")
    parser.add_argument("-p", dest="parameters", action="append", default=[])
    parser.add_argument("-a", dest="allocators", default=",".join(ALLOCATORS))
    parser.add_argument("--visits", default=",".join(map(str, VISITS)))
    parser.add_argument("-o", dest="output", type=Path, help="lines are appended")
    parser.add_argument("--page", type=Path, metavar="FILE", help="print the tables of such a file")
    given = parser.parse_args()
    if given.page is not None:
        lines = given.page.read_text().splitlines()
        print(page(table_of(lines), lowered(lines)), end="")
        return 0
    if given.start:
        write(measure_start((given.allocators,)), given.output)
    visits = [int(word) for word in given.visits.split(",") if word]
    for name in given.programs:
        asked = ProgramRequest(name, given.scale, tuple(given.parameters))
        write(measure(asked, (given.allocators,), visits), given.output)
    return 0


def write(lines: Iterator[dict[str, object]], output: Path | None) -> None:
    """Prints lines as they come, and appends them to a file."""
    for line in lines:
        text = json.dumps(line)
        print(text, flush=True)
        if output is not None:
            with output.open("a") as file:
                file.write(text + "\n")


if __name__ == "__main__":
    sys.exit(main())
