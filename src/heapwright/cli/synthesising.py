# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The whole of `heapwright synth`, once its options are read: fit, draw, profile, compare, tell."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from heapwright import __version__
from heapwright.artefacts import native
from heapwright.artefacts.errors import HeapwrightError
from heapwright.artefacts.fidelity import Fidelity, Ranking, Recipe
from heapwright.artefacts.profile import Profile
from heapwright.cli.output import Destination
from heapwright.cli.text import printing
from heapwright.experiment.design import fresh_seed
from heapwright.profile.reading import read_profile
from heapwright.profile.run import profile_trace
from heapwright.report.console import make_console
from heapwright.synth import program

LIST = "list"
MEBI = 1 << 20


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


@dataclass(frozen=True, slots=True)
class Outputs:
    """Where results go besides the terminal; tried when made."""

    json: Destination | None
    html: Destination | None

    @classmethod
    def of(cls, options: Options) -> "Outputs":
        given = (options.json_file, "--json"), (options.html_file, "--html")
        made = [None if text is None else Destination(text, option) for text, option in given]
        if None not in made and made[0].path == made[1].path:  # type: ignore[union-attr]
            raise HeapwrightError("--json and --html cannot write to the same place")
        if options.trace is not None:
            Destination(str(options.trace), "-o")
        return cls(*made)

    @property
    def take_standard_output(self) -> bool:
        return any(each is not None and each.is_standard_output for each in (self.json, self.html))


def run_synth(options: Options) -> None:
    """Do it. Raises HeapwrightError for what is refused."""
    _refuse(options)
    if options.recreate == LIST:
        _list()
        return
    outputs = Outputs.of(options)
    seed = fresh_seed() if options.seed is None else options.seed
    with _trace_file(options) as trace:
        if options.recreate is not None:
            _recreate(options, trace, seed)
        else:
            _synthesise(options, outputs, trace, seed)
        if options.run:
            _replay(trace)


def _refuse(options: Options) -> None:
    """What does not go together."""
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
        raise HeapwrightError("what is to become of the trace?", "-o TRACE keeps it, --run runs it")


@contextmanager
def _trace_file(options: Options) -> Iterator[Path]:
    if options.trace is not None:
        yield options.trace
        return
    with tempfile.TemporaryDirectory(prefix="heapwright-") as folder:
        yield Path(folder) / "trace"


def _list() -> None:
    from heapwright.report.columns import Columns  # noqa: PLC0415

    rows = [
        (each.name, each.caption, f"{each.threads:,}", f"{each.events:,}")
        for each in program.recreations()
    ]
    with printing():
        make_console().print(Columns(("Name", "", "Threads", "Calls"), rows, left=2))


def _recreate(options: Options, trace: Path, seed: int) -> None:
    assert options.recreate is not None
    made = program.recreate(options.recreate, trace, events=options.events, seed=seed)
    _say(options, f"{options.recreate}: {made.events:,} calls, {made.threads} threads, seed {seed}")


def _synthesise(options: Options, outputs: Outputs, trace: Path, seed: int) -> None:
    assert options.profile is not None
    model = read_profile(options.profile, options.process)
    if model.totals.allocations == 0:
        raise HeapwrightError(f"{options.profile} has no allocations: there is nothing to imitate")
    factor = 1.0 if options.events is None else options.events / model.provenance.events
    made = _draw(options, model, trace, factor=factor, seed=seed)
    synthetic = profile_trace(trace)
    if options.trace is None:
        origin = synthetic.provenance.model_copy(update={"trace": ""})
        synthetic = synthetic.model_copy(update={"provenance": origin})
    from heapwright.synth.distances import distances  # noqa: PLC0415

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
    _say(options, f"{made.events:,} calls, {made.threads} threads, seed {seed}{kept}")
    _deliver(options, outputs, fidelity)


def _draw(
    options: Options, model: Profile, trace: Path, *, factor: float, seed: int
) -> program.Made:
    """Fitting brings NumPy with it; it is imported when there is something to fit."""
    if options.costa:
        from heapwright.synth import costa as recipe  # noqa: PLC0415
    else:
        from heapwright.synth import model as recipe  # type: ignore[no-redef]  # noqa: PLC0415
    plan = recipe.plan(model, factor=factor, threads=options.threads, seed=seed)
    return program.draw(plan, trace)


def _rank(options: Options, model: Profile, trace: Path) -> Ranking | None:
    if not options.allocators:
        return None
    from heapwright.cli.synth_ranking import Wanted, rank  # noqa: PLC0415

    original = Path(model.provenance.trace) if model.provenance.trace else None
    if original is None or not original.is_file():
        raise HeapwrightError(
            "-a replays the model's own trace, too, and that is not there",
            "name the trace instead of its profile",
        )
    wanted = Wanted(options.allocators, options.blocks, options.process, options.quiet)
    return rank(original, trace, wanted)


def _deliver(options: Options, outputs: Outputs, fidelity: Fidelity) -> None:
    from heapwright.report.fidelity import NAMES, print_fidelity  # noqa: PLC0415

    if outputs.json is not None:
        outputs.json.write(fidelity.to_json())
    if outputs.html is not None:
        from heapwright.report.profile.comparison_page import comparison_page  # noqa: PLC0415

        outputs.html.write(comparison_page(fidelity.model, fidelity.synthetic, NAMES))
    stream = sys.stderr if outputs.take_standard_output else sys.stdout
    with printing():
        print_fidelity(make_console(stream), fidelity, quiet=options.quiet)


def _say(options: Options, text: str) -> None:
    if not options.quiet:
        with printing():
            make_console(sys.stderr).print(text, markup=False)


def _replay(trace: Path) -> None:
    """Once, under whatever allocator the environment preloads."""
    with tempfile.TemporaryDirectory(prefix="heapwright-") as folder:
        plan = str(Path(folder) / "plan")
        _replayer("prepare", str(trace), "-o", plan)
        said = json.loads(_replayer("run", plan))
    mean = said["calls_s"] / max(said["calls"], 1) * 1e9
    with printing():
        make_console().print(
            f"Replayed in {said['seconds']:.3f} s: {said['calls']:,} calls, {mean:.0f} ns each on "
            f"average; peak {said['peak_bytes'] / MEBI:.1f} MiB, of which the program asked for "
            f"{said['ideal_bytes'] / MEBI:.1f} MiB.",
            markup=False,
        )


def _replayer(*words: str) -> str:
    done = subprocess.run(
        [str(native.program("replay")), *words],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode != 0:
        said = done.stderr.strip().removeprefix("heapwright-replay: ")
        raise HeapwrightError(f"the replay failed: {said or f'status {done.returncode}'}")
    return done.stdout
