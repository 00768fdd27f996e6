# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The work of `heapwright tailor`, after its options are read.

Read the inputs, propose, compile, replay, race, refine, prove, judge, deliver. Each stage leaves
its result in the folder of the search, so an interrupted search continues.
"""

import contextlib
import os
import shlex
import shutil
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

from heapwright.artefacts.allocator.user_registry import headers_hash, read_registry
from heapwright.artefacts.comparison.document import Comparison
from heapwright.artefacts.run.journal import journal_folders
from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.tailoring.costs import counts_decide
from heapwright.artefacts.tailoring.document import Judgement
from heapwright.artefacts.tailoring.folder import Question, Replayed, TailorFolder
from heapwright.artefacts.tailoring.inputs import Input
from heapwright.base import native
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.base.scratch import Scratch
from heapwright.commands.comparison_notes import why_nothing
from heapwright.commands.conclusion import is_compared
from heapwright.commands.output import Outputs
from heapwright.commands.setup import discovering
from heapwright.commands.slow_steps import ReportStep, reporting_steps
from heapwright.commands.tailor_answer import (
    PAGE,
    Options,
    Search,
    document_of,
    lines_of,
    pairs_of,
)
from heapwright.commands.tailor_candidates import (
    Candidate,
    candidates_of,
    compilation_s,
    compile_all,
    counting_s,
    replay_all,
)
from heapwright.commands.tailor_inputs import (
    check_input,
    record_input,
    sha256_of,
    time_input,
)
from heapwright.commands.tailor_proof import proved
from heapwright.commands.tailor_race import (
    SYSTEM,
    Field,
    blocks_s,
    blocks_within,
    compared,
    newest_peers,
    raced,
    run_s_of,
)
from heapwright.commands.tailor_refine import refine
from heapwright.commands.tailor_sites import figures_with_sites
from heapwright.commands.tailor_steps import Place, value_steps
from heapwright.commands.tailor_text import announce, print_proposals, print_tailoring
from heapwright.compose.compiler import find_compiler
from heapwright.compose.installation import check_name
from heapwright.experiment.design import fresh_seed
from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.treatments import Request
from heapwright.replay.instructions import can_count
from heapwright.report.tailor.page import page
from heapwright.tailor.figures import Figures, together
from heapwright.tailor.grammar import Sentence
from heapwright.tailor.judge import beside_of, finalists, leanest_near
from heapwright.tailor.proposals import propose
from heapwright.tailor.refinement import derived

__all__ = ["Options", "run_tailoring"]
COUNT_SHARE = 0.2
"""Of the time that is left after the compilations, for counts of instructions."""
RACE_SHARE = 0.5
"""Of the time that is left after the replays."""
REFINE_SHARE = 0.5
"""Of the time that is left after the race, for the neighbours of its winner."""
PROOF_S = 60.0
"""Of a proof, about: the refinement does not use it."""
RESERVED_BLOCKS = 15
"""Of the judgement: the refinement does not use their time."""
STEP_SHARE = 0.4
"""Of the time that is left after the refinement, for the values of the steps."""
REFUSED = {ExitCode.BAD_INPUT, ExitCode.NOTHING_COMPARED}
"""A search that ends so before its first compilation leaves no folder."""


def run_tailoring(options: Options) -> ExitCode:
    """Run the verb; return the exit status. Raises HeapwrightError for a refused request."""
    _refuse_unwritable(options)
    outputs = Outputs(json=options.json_file)
    for each in (*options.inputs, *options.unseen):
        check_input(each)
    begun = monotonic()
    own = native.native_dir()
    nowhere = Path(os.devnull)
    check_name(options.name, read_registry(own, nowhere), nowhere, force=True)
    peers = _peers()
    with _folder(options, peers) as folder:
        search = _searched(options, folder, begun)
        with contextlib.suppress(KeyboardInterrupt):
            search.interrupted = True
            _raced_and_judged(options, folder, search, peers, begun)
        document = document_of(options, folder, search)
        folder.keep("result.json", document.to_json())
        header = Path(document.header).read_text("utf-8") if document.header else ""
        folder.keep(PAGE, page(document, header))
        failure = outputs.write(json=document.to_json)
        print_tailoring(document, lines_of(folder, search), options.quiet, outputs.stream)
        if failure is not None:
            raise failure
    return ExitCode.INTERRUPTED if search.interrupted else ExitCode.OK


def _refuse_unwritable(options: Options) -> None:
    """JSON files of the search have each word, and they are UTF-8."""
    words = [word for each in (*options.inputs, *options.unseen) for word in each.words]
    for word in (*words, str(Path.cwd()), str(options.folder), str(options.compiler)):
        try:
            word.encode("utf-8")
        except UnicodeEncodeError:
            raise HeapwrightError(
                f"{word!r} is not UTF-8, so the files of a search cannot name it",
                "rename the file, or write a script that names it",
            ) from None


def _searched(options: Options, folder: TailorFolder, begun: float) -> Search:
    """The stages before the race. An interruption names the folder, and is raised again."""
    try:
        with reporting_steps(quiet=options.quiet) as tell:
            figures = _read(options, folder, tell)
            unseen_s = _try_unseen(options, tell)
            compiler = _compiler(options, figures)
            search = _proposed(options, folder, figures, compiler, tell, begun)
            search.unseen_s = unseen_s
            return search
    except KeyboardInterrupt:
        place = shlex.quote(str(folder.path))
        announce(f"the same command with -o {place} continues", quiet=options.quiet)
        raise


def _peers() -> tuple[str, ...]:
    with PreloadPaths() as paths, discovering(dict(os.environ), paths) as discovery:
        return newest_peers(discovery)


@contextlib.contextmanager
def _folder(options: Options, peers: tuple[str, ...]) -> Iterator[TailorFolder]:
    path = options.folder
    if path is None:
        stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
        path = journal_folders()[0] / f"tailor-{stamp}-{os.getpid()}"
    question = Question(
        inputs=tuple(each.words for each in options.inputs),
        unseen=tuple(each.words for each in options.unseen),
        cwd=str(Path.cwd()),
        name=options.name,
        proposal=options.proposal or "",
        peers=peers,
        margin=options.margin,
        headers=headers_hash(native.native_dir()),
        compiler=_asked_compiler(options),
        traces=_stamps(options),
        programs={
            each.program.name: sha256_of(each.program)
            for each in (*options.inputs, *options.unseen)
            if each.program is not None
        },
        seed=fresh_seed() if options.seed is None else options.seed,
    )
    is_new = not path.exists()
    with TailorFolder.open(path, question, same_seed=options.seed is not None) as folder:
        try:
            yield folder
        except HeapwrightError as error:
            if is_new and error.exit_code in REFUSED and not folder.candidates.exists():
                shutil.rmtree(path, ignore_errors=True)
            raise


def _asked_compiler(options: Options) -> str:
    """The compiler of the question; empty: there is none, and `_compiler` says why."""
    with contextlib.suppress(HeapwrightError), Scratch() as work:
        found = find_compiler(options.compiler, os.environ, work)
        return f"{found.name}: {found.version}"
    return ""


def _stamps(options: Options) -> dict[str, tuple[int, int]]:
    """What changes if another file takes the place of a trace."""
    found = {}
    for each in (*options.inputs, *options.unseen):
        if each.trace is not None:
            status = each.trace.stat()
            found[str(each.trace)] = status.st_size, status.st_mtime_ns
    return found


def _read(options: Options, folder: TailorFolder, tell: ReportStep) -> Figures:
    """The figures of all training inputs; commands are recorded once."""
    found = []
    for number, each in enumerate(options.inputs):
        tell("recording the inputs", f"{number} of {len(options.inputs)}")
        found.append(figures_with_sites(_trace_of(each, number, folder, options)))
    return together(found)


def _trace_of(each: Input, number: int, folder: TailorFolder, options: Options) -> Path:
    if each.trace is not None:
        return each.trace
    trace = folder.trace(number)
    if not trace.exists():
        beside = trace.with_suffix(".part")
        beside.unlink(missing_ok=True)
        for note in record_input(each, beside):
            announce(note, quiet=options.quiet)
        beside.replace(trace)
    return trace


def _try_unseen(options: Options, tell: ReportStep) -> dict[Input, float]:
    """The wall time of each unseen input. Refuse one that fails, before the search."""
    times = {}
    for each in options.unseen:
        if each.trace is None:
            tell("trying the unseen inputs")
            times[each] = time_input(each)
    return times


def _compiler(options: Options, figures: Figures) -> str:
    """The version of the compiler. Without one, print what needs none, and raise."""
    with Scratch() as work:
        try:
            return find_compiler(options.compiler, os.environ, work).version
        except HeapwrightError as error:
            if not options.quiet:
                print_proposals(figures, propose(figures))
            error.hint = f"{error.hint}\nthe proposals above need no compiler; a search does"
            raise


def _proposed(
    options: Options,
    folder: TailorFolder,
    figures: Figures,
    compiler: str,
    tell: ReportStep,
    begun: float,
) -> Search:
    """The candidates, compiled and replayed."""
    candidates = candidates_of(_chosen(propose(figures), options.proposal, figures), folder)
    missing = sum(not each.library.exists() for each in candidates)
    needed = compilation_s(candidates)
    if needed > options.budget_s - (monotonic() - begun):
        least = (needed + monotonic() - begun) * 1.5 / 60
        raise HeapwrightError(
            f"the budget of {options.budget_s / 60:g} min is too small: {missing} candidates are "
            f"to be compiled, which takes about {needed:.0f} s",
            f"--budget {max(least, 0.1):.2g}, and more for longer runs",
        )
    compile_all(candidates, options.compiler, tell)
    libraries: dict[str, Path | None] = {each.digest: each.library for each in candidates}
    with PreloadPaths() as paths, discovering(dict(os.environ), paths) as discovery:
        (own,) = discovery.requested([Request("granary")])
    libraries |= {SYSTEM: None, own.name: Path(own.path or "")}
    trace = _trace_of(options.inputs[0], 0, folder, options)
    count_s = COUNT_SHARE * (options.budget_s - (monotonic() - begun))
    if folder.comparison("race") is not None:
        count_s = 0.0  # further counts could choose other finalists than those of the race
    by_key = replay_all(trace, libraries, folder, tell, count_s)
    names = {each.digest: each.name for each in candidates}
    replays = {names.get(key, key): replayed for key, replayed in by_key.items()}
    return Search(
        figures, candidates, compiler, replays, notes=_count_notes(replays, names.values())
    )


def _chosen(
    sentences: tuple[Sentence, ...], name: str | None, figures: Figures
) -> tuple[Sentence, ...]:
    """All of them, or the one of this name, which may be a neighbour."""
    if name is None:
        return sentences
    found = derived(sentences, name, figures)
    if found is None:
        raise HeapwrightError(
            f"there is no proposal {name} for this input",
            f"there are {', '.join(each.name for each in sentences)}",
        )
    return (found,)


def _count_notes(replays: Mapping[str, Replayed], candidates: Iterable[str]) -> tuple[str, ...]:
    """Why times of a busy machine chose the finalists of these candidates, if they did."""
    own = {name: replays[name] for name in candidates}
    if counts_decide(own):
        return ()
    failed = [each.not_counted for each in own.values() if each.not_counted]
    why = "valgrind is not installed (package valgrind)"
    if failed:
        why = f"{len(failed)} of {len(own)} could not be counted ({failed[0]})"
    elif can_count():
        why = f"that takes about {counting_s(replays.values()):.0f} s of the budget"
    return (f"times chose the finalists, and no counts of instructions: {why}",)


def _raced_and_judged(
    options: Options,
    folder: TailorFolder,
    search: Search,
    peers: tuple[str, ...],
    begun: float,
) -> None:
    """Race, prove and judge; the search is `finished` after the last judgement."""
    field = Field(folder, options.margin, options.cpus, options.quiet)
    by_name = {each.name: each for each in search.candidates}
    replays = {name: search.replays[name] for name in by_name}
    chosen = [by_name[name] for name in finalists(replays)]
    if not chosen:
        whys = "; ".join(sorted({each.why_not for each in replays.values()}))
        raise HeapwrightError(
            f"no candidate replays the trace: {whys}", exit_code=ExitCode.NOTHING_COMPARED
        )
    announce(f"finalists: {', '.join(each.name for each in chosen)}", quiet=options.quiet)
    own = {each.name: each.library for each in chosen}
    left = options.budget_s - (monotonic() - begun)
    if left <= 0:
        raise HeapwrightError(
            f"the budget of {options.budget_s / 60:g} min is over before the race",
            f"the same command with a larger --budget and -o {folder.path} continues",
            exit_code=ExitCode.NOTHING_COMPARED,
        )
    race, result = raced(field, "race", options.inputs[0], own, peers, SYSTEM, RACE_SHARE * left)
    search.race = race
    if result is not None:
        if result.failure is not None:
            raise result.failure
        if result.interrupted:
            return
        if not is_compared(race):
            raise why_nothing(race)
    trace = _trace_of(options.inputs[0], 0, folder, options)
    place = Place(folder, trace, options.compiler, options.quiet)
    library = None
    while library is None:
        proven = [each for each in chosen if each.name not in search.refused]
        _choose(search, peers, proven, options.margin)
        if search.winner is None:
            search.interrupted, search.finished = False, True
            return
        if search.refinement is None and options.proposal is None:
            left = _refinement_s(options, search, begun)
            refine(place, field, options.inputs[0], search, left)
        refined = (each for each in reversed(search.refined) if each.name not in search.refused)
        search.winner = next(refined, search.winner)
        left = options.budget_s - (monotonic() - begun)
        value_steps(place, search, STEP_SHARE * left)
        library = proved(options, folder, search)
    _judge(options, field, search, library, begun)


def _refinement_s(options: Options, search: Search, begun: float) -> float:
    """The share of the refinement. What the proof and the judgement need stays."""
    left = options.budget_s - (monotonic() - begun)
    treatments = len(_opponents(search)) + 1
    judged_s = sum(
        blocks_s(RESERVED_BLOCKS, treatments, _run_s(search, each)) for each in _judged(options)
    )
    return min(REFINE_SHARE * left, left - PROOF_S - judged_s)


def _judged(options: Options) -> tuple[Input, ...]:
    """The inputs of the judgement."""
    return options.unseen or options.inputs[:1]


def _opponents(search: Search) -> tuple[str, ...]:
    """Of the judgement."""
    return tuple(dict.fromkeys((search.against, search.leanest, SYSTEM)))


def _run_s(search: Search, each: Input) -> float:
    """About the longest wall time of a run on this input."""
    assert search.race is not None
    return max(run_s_of(search.race), search.unseen_s.get(each, 0.0))


def _choose(search: Search, peers: tuple[str, ...], chosen: list[Candidate], margin: float) -> None:
    """The leanest finalist within the margin of the fastest, and the existing allocators with the
    least time and the least memory in the race."""
    assert search.race is not None
    existing = pairs_of(search.race, peers)
    search.against = min(peers, key=lambda name: existing[name][0])
    search.leanest = min(peers, key=lambda name: existing[name][1])
    search.winner = None
    if not chosen:
        return
    by_name = {each.name: each for each in chosen}
    name = leanest_near(pairs_of(search.race, by_name), margin)
    if name is None:
        search.notes += ("every finalist failed in the race",)
    else:
        search.winner = by_name[name]


def _judge(options: Options, field: Field, search: Search, library: Path, begun: float) -> None:
    """Complete blocks on each unseen input; without one, on the first input again."""
    assert search.race is not None
    assert search.winner is not None
    inputs = _judged(options)
    own = {options.name: library}
    peers = _opponents(search)
    left = max(0.0, options.budget_s - (monotonic() - begun)) / len(inputs)
    for number, each in enumerate(inputs):
        blocks = blocks_within(left, len(peers) + 1, _run_s(search, each))
        place = f"judged-{number}-{search.winner.digest}"
        comparison, result = compared(field, place, each, own, peers, options.name, blocks)
        if result is not None and result.failure is not None:
            raise result.failure
        if result is None or not result.interrupted:
            if _has_failed(options.name, comparison):
                search.notes += (f"{options.name} failed in runs of {each.text}",)
                search.judged = ()
                break
            if not is_compared(comparison):
                raise why_nothing(comparison)
        figure = search.race.design.race or "time"
        search.judged += (
            Judgement(
                command=each.words,
                unseen=bool(options.unseen),
                figure=figure,
                blocks=comparison.design.blocks,
                beside=tuple(beside_of(comparison, peer, figure) for peer in peers),
            ),
        )
        if result is not None and result.interrupted:
            return
    search.interrupted, search.finished = False, True


def _has_failed(name: str, comparison: Comparison) -> bool:
    """Whether a run under the allocator ended badly, with the allocator at work."""
    bad = Outcome.CRASHED, Outcome.FAILED, Outcome.OUT_OF_MEMORY, Outcome.TIMEOUT
    return any(run.allocator == name and run.outcome in bad for run in comparison.runs)
