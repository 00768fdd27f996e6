# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The proof of a tailored allocator: it is built under its name, and must pass four examinations.

The conformance suite, the mistakes whose ends its layers promise, workloads with threads, and the
same heap in a program that is built with sanitizers. A candidate that fails one is kept out.
"""

import os
import shutil
from dataclasses import replace
from itertools import islice
from pathlib import Path

from heapwright.artefacts.allocator.user_registry import read_registry
from heapwright.artefacts.tailoring.document import Proof
from heapwright.artefacts.tailoring.folder import Replayed, TailorFolder
from heapwright.base import native
from heapwright.base.quantities import several
from heapwright.base.scratch import Scratch
from heapwright.commands.setup import discovering
from heapwright.commands.slow_steps import ReportStep, reporting_steps
from heapwright.commands.tailor_answer import DIGEST, Options, Search, is_made
from heapwright.commands.tailor_candidates import Candidate
from heapwright.commands.tailor_race import SYSTEM
from heapwright.compose.compiler import find_compiler, write
from heapwright.compose.conformance import Failed
from heapwright.compose.mistakes import wrong_endings
from heapwright.compose.stress import sanitized, stressed
from heapwright.compose.workshop import NotComposableError, Order, Shop, UnprovedError, compose
from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.treatments import Request
from heapwright.tailor.figures import Figures
from heapwright.tailor.grammar import Sentence
from heapwright.tailor.header import header_of, type_of
from heapwright.tailor.promises import promises_of

COMMON = 12
"""Sizes of the program that the sanitized heap serves, besides those around its limits."""


def proved(options: Options, folder: TailorFolder, search: Search) -> Path | None:
    """The library of the winner, proved; None: it fails, and is kept out by its name."""
    winner = search.winner
    assert winner is not None
    name = options.name
    library = folder.allocators / name / f"libheapwright-{name}.so"
    proofs = folder.proofs()
    proof = proofs.get(winner.digest)
    if proof is None or (not proof.failed and not is_made(options, folder, search)):
        with reporting_steps(quiet=options.quiet) as tell:
            proof, is_final = _proof(options, folder, search, winner, library, tell)
        if proof.failed:
            shutil.rmtree(library.parent, ignore_errors=True)
            (folder.path / f"{name}.hpp").unlink(missing_ok=True)
        else:
            write(library.parent / DIGEST, winner.digest)
        if is_final:
            folder.keep_proofs({**proofs, winner.digest: proof})
    search.proofs += (proof,)
    if not proof.failed:
        return library
    search.refused |= {winner.name}
    search.notes += (f"{winner.name} is not proved: {'; '.join(proof.failed)}",)
    return None


def _proof(
    options: Options,
    folder: TailorFolder,
    search: Search,
    winner: Candidate,
    library: Path,
    tell: ReportStep,
) -> tuple[Proof, bool]:
    """Compose the winner with the conformance suite, into the folder, and examine it further.

    Also whether this is final: a failure that may be one of the machine is not.
    """
    sentence = replace(winner.sentence, name=options.name)
    header = folder.path / f"{options.name}.hpp"
    write(header, header_of(sentence, options.name, head_of(options, search)))
    order = Order(
        name=options.name,
        file=header,
        type=type_of(options.name),
        caption=f"tailored for {options.inputs[0].text[:100]}",
        compiler=options.compiler,
        force=True,
    )
    try:
        passed = _composed(order, folder, tell)
    except (NotComposableError, UnprovedError) as error:  # any other is a failure of the machine
        why = ": ".join(filter(None, (error.message, error.hint)))
        is_final = not (isinstance(error, UnprovedError) and error.by_machine)
        return Proof(candidate=winner.name, failed=(why,)), is_final
    proof, is_final = examined(sentence, search.figures, header, library, options.compiler, tell)
    found = proof.model_copy(update={"candidate": winner.name, "conformance": passed})
    return found, is_final


def _composed(order: Order, folder: TailorFolder, tell: ReportStep) -> int:
    """Compile and install the allocator; return the number of conformance cases that it passes."""
    environment = dict(os.environ)
    own = native.native_dir()
    with PreloadPaths() as paths, discovering(environment, paths) as discovery:
        shop = Shop(
            native=own,
            catalogue=read_registry(own, folder.allocators),
            allocators=folder.allocators,
            environment=environment,
            conformance=native.program("conformance"),
            preload=paths.of,
            judge=lambda label, library: (
                discovery.look_up([Request(label, str(library))])[0].reason
            ),
            tell=lambda what, done, of: tell(what, f"{done} of {of}" if of else ""),
        )
        return compose(order, shop).verdict.passed


def examined(
    sentence: Sentence,
    figures: Figures,
    header: Path,
    library: Path,
    compiler_name: str | None,
    tell: ReportStep,
) -> tuple[Proof, bool]:
    """The examinations after the conformance suite, and whether their result is final."""
    own, environment = native.native_dir(), dict(os.environ)
    promises = promises_of(sentence)
    failed: list[Failed] = []
    with Scratch() as work, PreloadPaths() as paths:
        compiler = find_compiler(compiler_name, environment, work)
        compiler.include = (own / "include", own)
        preload = paths.of(library)
        tell("making the promised mistakes", "")
        failed += wrong_endings(promises, preload, compiler, environment)
        ran = []
        for workload, wrong in stressed(preload, own / "workloads", environment, seed=1):
            ran.append(workload)
            failed += [wrong] if wrong else []
            tell("running workloads with threads", f"{len(ran)}")
        tell("building with sanitizers", "")
        found = sanitized(header, type_of(sentence.name), sizes_of(sentence, figures), compiler)
    failed += found.failed
    proof = Proof(
        candidate=sentence.name,
        promises=tuple(promises),
        stress=tuple(ran),
        sanitizers=found.ran,
        missing=found.missing,
        failed=tuple(f"{each.case}: {each.why}" for each in failed),
    )
    return proof, not failed or any(not each.by_machine for each in failed)


def sizes_of(sentence: Sentence, figures: Figures) -> tuple[int, ...]:
    """The most frequent sizes of the program, and those around the limits of the composition."""
    frequent = (size for size, _ in figures.counts.most_common() if size <= 2 * sentence.large)
    common = islice(frequent, COMMON)
    ends = [1, 16, sentence.large - 8, sentence.large, sentence.large + 1, 2 * sentence.large]
    return tuple(sorted({*common, *ends, *sentence.classes[:2]}))


def head_of(options: Options, search: Search) -> tuple[str, ...]:
    """The opening comment of the header."""
    assert search.winner is not None
    figures, winner = search.figures, search.winner
    replayed, system = search.replays[winner.name], search.replays[SYSTEM]
    trained = "; ".join(each.text for each in options.inputs)
    return (
        f"Fitted to: {trained}",
        f"The program made {figures.allocations:,} allocations of {len(figures.counts):,} sizes "
        f"with {figures.threads} thread{'s' if figures.threads > 1 else ''}. "
        f"{len(search.candidates)} proposals were replayed, and the finalists raced on the "
        f"program.{_refined_text(search)} The figures in the captions are those of the trace.",
        _replay_text(replayed, system),
    )


def _refined_text(search: Search) -> str:
    rounds = search.refinement.rounds if search.refinement else ()
    if not rounds:
        return ""
    tried = sum(len(each.tried) for each in rounds)
    return f" {several(tried, 'neighbour')} of the winner {'were' if tried > 1 else 'was'} tried."


def _replay_text(own: Replayed, system: Replayed) -> str:
    if not (own.seconds and own.peak_bytes and system.seconds and system.peak_bytes):
        return "Its replay has no figures beside glibc."
    return (
        f"Replays of the trace: {own.seconds / system.seconds:.2f} times the time of glibc and "
        f"{own.peak_bytes / system.peak_bytes:.2f} times its peak memory."
    )
