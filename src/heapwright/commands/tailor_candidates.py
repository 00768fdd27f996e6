# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The candidates of `heapwright tailor`: each is compiled once, and replayed."""

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from heapwright.artefacts.allocator.catalogue import ComposedAllocator
from heapwright.artefacts.run.replay import TOUCH
from heapwright.artefacts.tailoring.folder import Replayed, TailorFolder
from heapwright.base import native
from heapwright.base.errors import HeapwrightError
from heapwright.base.paths import is_file
from heapwright.commands.slow_steps import ReportStep
from heapwright.compose.compiler import find_compiler, not_written, write
from heapwright.compose.library import build_library
from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.runner import with_preload
from heapwright.replay.once import replay_once
from heapwright.replay.prepare import prepare, refuse_beyond_memory
from heapwright.tailor.grammar import Sentence
from heapwright.tailor.header import digest_of, header_of, type_of

REPETITIONS = 3
AT_ONCE = 2
"""Compilers, if there are as many processors: each needs up to 500 MiB."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence with its code."""

    sentence: Sentence
    digest: str
    header: Path
    library: Path

    @property
    def name(self) -> str:
        return self.sentence.name


def candidates_of(sentences: Sequence[Sentence], folder: TailorFolder) -> tuple[Candidate, ...]:
    """One for each sentence; of equal code, the first."""
    found: dict[str, Candidate] = {}
    for sentence in sentences:
        digest = digest_of(sentence)
        place = folder.candidates / digest
        entry = _entry(sentence)
        found.setdefault(
            digest, Candidate(sentence, digest, place / entry.header, place / entry.library)
        )
    return tuple(found.values())


def _entry(sentence: Sentence) -> ComposedAllocator:
    name = sentence.name
    return ComposedAllocator(name, f"{name}.hpp", type_of(name), name, sentence.entry_points)


def compile_all(candidates: Sequence[Candidate], compiler: str | None, tell: ReportStep) -> None:
    """Compile what the folder does not have. Raises HeapwrightError: each sentence must compile."""
    missing = [each for each in candidates if not is_file(each.library)]
    pool = ThreadPoolExecutor(max(1, min(AT_ONCE, len(os.sched_getaffinity(0)))))
    try:
        futures = [pool.submit(_compile, each, compiler) for each in missing]
        for done, future in enumerate(futures):
            tell("compiling the candidates", f"{done} of {len(missing)}")
            future.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _compile(candidate: Candidate, named: str | None) -> None:
    """Leave the header and the library in the folder of the candidate, the library last."""
    folder, work = candidate.header.parent, candidate.header.parent / ".work"
    try:
        work.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise not_written(work, error) from error
    compiler = find_compiler(named, os.environ, work)
    own = native.native_dir()
    compiler.include = (own / "include", own, work)
    write(work / candidate.header.name, header_of(candidate.sentence, candidate.name, ()))
    library, answer = build_library(compiler, own, work, _entry(candidate.sentence))
    if not answer.valid:
        raise HeapwrightError(
            f"the proposal {candidate.name} does not compile, which is a defect of heapwright",
            answer.pages[:2000],
        )
    try:
        (work / candidate.header.name).replace(candidate.header)
        library.replace(folder / candidate.library.name)
    except OSError as error:
        raise not_written(folder, error) from error


def replay_all(
    trace: Path,
    libraries: Mapping[str, Path | None],
    folder: TailorFolder,
    tell: ReportStep,
) -> dict[str, Replayed]:
    """The replays of each library by its key; those of the folder are not made again."""
    found = folder.replays()
    missing = [key for key in libraries if key not in found]
    if not missing:
        return {key: found[key] for key in libraries}
    plan = folder.path / "plan"
    prepared = prepare(trace, plan)
    refuse_beyond_memory(trace, prepared, TOUCH)
    try:
        with PreloadPaths() as paths:
            for done, key in enumerate(missing):
                tell("replaying", f"{done} of {len(missing)}")
                found[key] = _replayed(plan, libraries[key], paths)
                folder.keep_replays(found)
    finally:
        plan.unlink(missing_ok=True)
    return {key: found[key] for key in libraries}


def _replayed(plan: Path, library: Path | None, paths: PreloadPaths) -> Replayed:
    preload = [] if library is None else [paths.of(library)]
    environment = with_preload(dict(os.environ), *preload)
    try:
        lines = [replay_once(plan, environment) for _ in range(REPETITIONS)]
    except HeapwrightError as error:
        return Replayed(why_not=error.message)
    return Replayed(
        seconds=min(line.user_s + line.sys_s for line in lines),
        peak_bytes=max(line.peak_bytes for line in lines) or None,
    )
