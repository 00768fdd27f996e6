# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The work of `heapwright synth`, after its options are read: fit, draw, profile, compare,
print."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from heapwright import __version__
from heapwright.artefacts.fidelity.document import Fidelity, Ranking, Recipe
from heapwright.artefacts.profile.document import Profile
from heapwright.artefacts.trace.processes import named, processes_of
from heapwright.base.errors import HeapwrightError
from heapwright.base.quantities import several, size
from heapwright.base.scratch import Scratch
from heapwright.commands.coverage import read_covered
from heapwright.commands.output import Outputs, name_page
from heapwright.commands.synth_ranks import Wanted, rank
from heapwright.commands.text import printing
from heapwright.experiment.design import fresh_seed
from heapwright.profile.reader import is_document
from heapwright.profile.run import profile_trace
from heapwright.replay.once import replay_once
from heapwright.replay.prepare import prepare
from heapwright.report.columns import Columns
from heapwright.report.console import make_console
from heapwright.report.fidelity import NAMES, print_fidelity
from heapwright.report.profile.comparison_page import comparison_page
from heapwright.synth import costa, program
from heapwright.synth import model as default_recipe
from heapwright.synth.distances import distances

LIST = "list"
MEBI = 1 << 20
WORTH_TELLING = 1 << 28
"""A trace of at least this number of bytes is announced before it is drawn."""


@dataclass(frozen=True, slots=True)
class Options:
    """The command line, read."""

    profile: Path | None
    trace: Path | None
    run: bool
    costa: bool
    events: int | None
    threads: int | None
    seed: int | None
    process: int | None
    recreate: str | None
    allocators: tuple[str, ...]
    blocks: int
    json_file: str | None
    html_file: str | None
    quiet: bool


def run_synth(options: Options) -> None:
    """Run the verb. Raises HeapwrightError for a refused request."""
    _refuse(options)
    if options.recreate == LIST:
        _list()
        return
    outputs = Outputs(json=options.json_file, html=options.html_file)
    seed = fresh_seed() if options.seed is None else options.seed
    with _trace_file(options, outputs) as trace:
        if options.recreate is not None:
            _recreate(options, trace, seed)
        else:
            _synthesise(options, outputs, trace, seed)
        if options.run:
            _replay(trace)


def _refuse(options: Options) -> None:
    """Refuse options that exclude each other."""
    if (options.profile is None) == (options.recreate is None):
        raise HeapwrightError(
            "one profile or trace is the model, or --recreate names a published trace",
            "heapwright synth PROFILE -o T, or heapwright synth --recreate list",
        )
    if options.recreate is None:
        return
    known = [each.name for each in program.recreations()]
    if options.recreate not in (*known, LIST):
        raise HeapwrightError(
            f"there is no recreation {options.recreate}", f"there are {', '.join(known)}"
        )
    given = {
        "--model": options.costa,
        "--threads": options.threads is not None,
        "--process": options.process is not None,
        "-a": bool(options.allocators),
        "--json": options.json_file is not None,
        "--html": options.html_file is not None,
    }
    for option, is_given in given.items():
        if is_given:
            raise HeapwrightError(f"{option} needs a model, and a recreation has none")
    if options.recreate != LIST and options.trace is None and not options.run:
        raise HeapwrightError("the trace has no destination", "-o TRACE keeps it, --run runs it")


@contextmanager
def _trace_file(options: Options, outputs: Outputs) -> Iterator[Path]:
    """The path of the trace. A kept trace is moved to its place at the end."""
    if options.trace is not None:
        kept = outputs.beside(str(options.trace))
        if options.profile is not None:
            kept.spare(options.profile)
        with kept.file() as trace:
            yield trace
        return
    with Scratch() as folder:
        yield folder / "trace"


def _list() -> None:
    rows = [
        (each.name, each.caption, f"{each.threads:,}", f"{each.events:,}")
        for each in program.recreations()
    ]
    with printing():
        make_console().print(Columns(("Name", "", "Threads", "Calls"), rows, left=2))


def _recreate(options: Options, trace: Path, seed: int) -> None:
    assert options.recreate is not None
    _tell_size(options, options.events or 0)
    made = program.recreate(options.recreate, trace, events=options.events, seed=seed)
    _say(options, f"{options.recreate}: {_told(made)}, seed {seed}")


def _synthesise(options: Options, outputs: Outputs, trace: Path, seed: int) -> None:
    assert options.profile is not None
    model = read_covered(options.profile, options.process)
    if model.coverage is not None and (gap := model.coverage.gap()):
        print(f"heapwright: {options.profile}: {gap}", file=sys.stderr)  # noqa: T201
    _tell_joined(options)
    if model.totals.allocations == 0:
        raise HeapwrightError(f"{options.profile} has no allocations: there is nothing to imitate")
    _tell_size(options, options.events or model.provenance.events)
    factor = 1.0 if options.events is None else options.events / model.provenance.events
    made = _draw(options, model, trace, factor=factor, seed=seed)
    synthetic = profile_trace(trace)
    named = {"trace": "" if options.trace is None else str(options.trace)}
    origin = synthetic.provenance.model_copy(update=named)
    synthetic = synthetic.model_copy(update={"provenance": origin})
    recipe = Recipe(
        model="costa" if options.costa else "default",
        seed=seed,
        factor=factor,
        threads=made.threads,
    )
    fidelity = Fidelity(
        heapwright_version=__version__,
        recipe=recipe,
        distances=distances(model, synthetic),
        ranking=_rank(options, model, trace),
        model=model,
        synthetic=synthetic,
    )
    kept = f" in {options.trace}" if options.trace is not None else ""
    _say(options, f"{_told(made)}, seed {seed}{kept}")
    _deliver(options, outputs, fidelity)


def _tell_size(options: Options, calls: int) -> None:
    """Announce the size of a large trace before it is drawn."""
    bytes_ = program.size_of(calls)
    if bytes_ >= WORTH_TELLING:
        _say(options, f"drawing {several(calls, 'call')}: the trace needs about {size(bytes_)}")


def _tell_joined(options: Options) -> None:
    """The note that several processes are imitated as one."""
    assert options.profile is not None
    if options.process is not None or is_document(options.profile):
        return
    processes = processes_of(options.profile)
    if len(processes) > 1 and not options.quiet:
        _say(
            options,
            f"{len(processes)} processes are imitated as one: {named(processes)}. "
            "--process NUMBER imitates one of them.",
        )


def _told(made: program.Made) -> str:
    return f"{several(made.events, 'call')}, {several(made.threads, 'thread')}"


def _draw(
    options: Options, model: Profile, trace: Path, *, factor: float, seed: int
) -> program.Made:
    make_plan = costa.plan if options.costa else default_recipe.plan
    plan = make_plan(model, factor=factor, threads=options.threads, seed=seed)
    return program.draw(plan, trace)


def _rank(options: Options, model: Profile, trace: Path) -> Ranking | None:
    if not options.allocators:
        return None
    original = Path(model.provenance.trace) if model.provenance.trace else None
    if original is None or not original.is_file():
        raise HeapwrightError(
            "-a replays the model's own trace, too, and that is not there",
            "name the trace instead of its profile",
        )
    if options.process is None and len(processes := processes_of(original)) > 1:
        raise HeapwrightError(
            f"-a replays one process, and {original} has {len(processes)}: {named(processes)}",
            "--process NUMBER names the one that is imitated and replayed",
        )
    wanted = Wanted(options.allocators, options.blocks, options.process, options.quiet)
    return rank(original, trace, wanted)


def _deliver(options: Options, outputs: Outputs, fidelity: Fidelity) -> None:
    failure = outputs.write(json=fidelity.to_json, html=lambda: _page(fidelity))
    with printing():
        print_fidelity(make_console(outputs.stream), fidelity, quiet=options.quiet)
    name_page(outputs, failure, quiet=options.quiet)
    if failure is not None:
        raise failure


def _page(fidelity: Fidelity) -> str:
    return comparison_page(fidelity.model, fidelity.synthetic, NAMES)


def _say(options: Options, text: str) -> None:
    if not options.quiet:
        with printing():
            make_console(sys.stderr).print(text, markup=False)


def _replay(trace: Path) -> None:
    """Replay once, under the allocator that the environment preloads."""
    with Scratch() as folder:
        plan = folder / "plan"
        prepare(trace, plan)
        said = replay_once(plan, os.environ)
    mean = 1e9 * (said.calls_s or 0) / max(said.calls, 1)
    with printing():
        make_console().print(
            f"Replayed in {said.seconds:.3f} s: {said.calls:,} calls, {mean:.0f} ns each on "
            f"average; peak {said.peak_bytes / MEBI:.1f} MiB, of which the program requested "
            f"{said.ideal_bytes / MEBI:.1f} MiB.",
            markup=False,
        )
