# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The candidates of `heapwright tailor`: each is compiled once, and replayed."""

import os
import resource
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from heapwright.artefacts.allocator.catalogue import ComposedAllocator
from heapwright.artefacts.run.replay import TOUCH
from heapwright.artefacts.tailoring.folder import Replayed, TailorFolder
from heapwright.base import native
from heapwright.base.errors import HeapwrightError
from heapwright.base.paths import is_file
from heapwright.commands.slow_steps import ReportStep
from heapwright.compose.compiler import find_compiler, not_written, write
from heapwright.compose.library import build_library
from heapwright.compose.workshop import NotComposableError
from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.runner import with_preload
from heapwright.replay.instructions import SLOWDOWN, can_count, count_instructions
from heapwright.replay.once import replay_once
from heapwright.replay.prepare import prepare, refuse_beyond_memory
from heapwright.tailor.grammar import Sentence
from heapwright.tailor.header import digest_of, header_of, type_of

REPETITIONS = 3
COMPILATION_S = 12.0
"""Of one candidate, about: for the estimate of the least budget."""
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


def compilation_s(candidates: Sequence[Candidate]) -> float:
    """About the time that the compilations of those take that are not compiled."""
    missing = sum(not each.library.exists() for each in candidates)
    return missing * COMPILATION_S / _at_once()


def compile_all(candidates: Sequence[Candidate], compiler: str | None, tell: ReportStep) -> None:
    """Compile what the folder does not have. Raises HeapwrightError: each sentence must compile."""
    missing = [each for each in candidates if not is_file(each.library)]
    pool = ThreadPoolExecutor(_at_once())
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
        raise NotComposableError(
            f"the proposal {candidate.name} does not compile, which is a defect of heapwright",
            answer.pages,
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
    count_s: float,
) -> dict[str, Replayed]:
    """The replays of each library by its key, with counted instructions if that takes at most
    about `count_s`. Those of the folder are not made again."""
    found = folder.replays()
    missing = [key for key in libraries if key not in found]
    if not missing and not _uncounted(libraries, found, count_s):
        return {key: found[key] for key in libraries}
    plan = folder.path / "plan"
    try:
        refuse_beyond_memory(trace, prepare(trace, plan), TOUCH)
        with PreloadPaths() as paths:
            for done, key in enumerate(missing):
                tell("replaying", f"{done} of {len(missing)}")
                found[key] = _replayed(plan, libraries[key], paths)
                folder.keep_replays(found)
            keys = _uncounted(libraries, found, count_s)
            until = monotonic() + count_s
            pool = ThreadPoolExecutor(_at_once())
            try:
                counts = [
                    (key, pool.submit(_counted, plan, libraries[key], paths, until)) for key in keys
                ]
                for done, (key, count) in enumerate(counts):
                    tell("counting the instructions of the replays", f"{done} of {len(keys)}")
                    found[key] = found[key].model_copy(update=count.result())
                    folder.keep_replays(found)
            finally:
                pool.shutdown(cancel_futures=True)
    finally:
        plan.unlink(missing_ok=True)
    return {key: found[key] for key in libraries}


def _at_once() -> int:
    return max(1, min(AT_ONCE, len(os.sched_getaffinity(0))))


def _uncounted(
    libraries: Mapping[str, Path | None], found: Mapping[str, Replayed], count_s: float
) -> list[str]:
    """What is to be counted; nothing if that takes too long."""
    keys = [
        key
        for key in libraries
        if key in found
        and found[key].seconds is not None
        and found[key].instructions is None
        and not found[key].not_counted
    ]
    return keys if can_count() and counting_s([found[key] for key in keys]) <= count_s else []


def counting_s(replays: Iterable[Replayed]) -> float:
    """About the time that it takes to count their instructions."""
    return sum(SLOWDOWN * (each.seconds or 0.0) + 1 for each in replays) / _at_once()


def replaying_s(replays: Iterable[Replayed]) -> float:
    """About the time of the replays of as many other allocators."""
    return sum(REPETITIONS * (each.seconds or 0.0) + 1 for each in replays)


def _counted(
    plan: Path, library: Path | None, paths: PreloadPaths, until: float
) -> dict[str, int | str]:
    """The count, or why this allocator cannot be counted, so that its time is used. Neither: there
    was no time left."""
    left = until - monotonic()
    if left < 1:
        return {}
    try:
        return {"instructions": count_instructions(plan, _environment(library, paths), left)}
    except HeapwrightError as error:
        return {"not_counted": error.message}


def _environment(library: Path | None, paths: PreloadPaths) -> dict[str, str]:
    return with_preload(dict(os.environ), *([] if library is None else [paths.of(library)]))


def _replayed(plan: Path, library: Path | None, paths: PreloadPaths) -> Replayed:
    environment = _environment(library, paths)
    before = _faults()
    try:
        lines = [replay_once(plan, environment) for _ in range(REPETITIONS)]
    except HeapwrightError as error:
        return Replayed(why_not=error.message)
    return Replayed(
        seconds=min(line.user_s + line.sys_s for line in lines),
        peak_bytes=max(line.peak_bytes for line in lines) or None,
        faults=(_faults() - before) // REPETITIONS,
    )


def _faults() -> int:
    """The page faults of all children that have ended."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt
