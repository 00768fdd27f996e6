# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The locks of a library of another project are counted where it calls the C library."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.run.provenance import Allocator, Kind
from heapwright.artefacts.run.workload import Aspect, WorkloadRun
from heapwright.base import native
from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.taxonomy.execution import LIMIT
from heapwright.experiment.taxonomy.survey import Task
from heapwright.experiment.taxonomy.trials import Extent, Trial
from heapwright.experiment.validation.execution import ValidationExecution
from heapwright.experiment.validation.trials import PEAKS, validation_trials

LOCKED = """
#include <pthread.h>
#include <stddef.h>
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void __libc_free(void *);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#define WITH_LOCK(TYPE, CALL) pthread_mutex_lock(&lock); TYPE p = CALL; pthread_mutex_unlock(&lock)
void *malloc(size_t n) { WITH_LOCK(void *, __libc_malloc(n)); return p; }
void *calloc(size_t n, size_t s) { WITH_LOCK(void *, __libc_calloc(n, s)); return p; }
void *realloc(void *q, size_t n) { WITH_LOCK(void *, __libc_realloc(q, n)); return p; }
void free(void *q) {
  while (pthread_mutex_trylock(&lock)) { }
  __libc_free(q);
  pthread_mutex_unlock(&lock);
}
"""
"""A malloc behind one mutex, which is taken in both ways."""


@pytest.fixture
def locked(tmp_path: Path) -> Path:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("cc is not installed (package gcc)")
    source, library = tmp_path / "locked.c", tmp_path / "locked.so"
    source.write_text(LOCKED, encoding="utf-8")
    command = [compiler, "-O1", "-fno-builtin", "-shared", "-fPIC", str(source), "-o", str(library)]
    subprocess.run(command, check=True)
    return library


def counted(library: Path, *more: str) -> WorkloadRun:
    original = Allocator(name="original", kind=Kind.FILE, path=str(library))
    arguments = ("--objects", "1000", "--rounds", "10", "--interleave", *more)
    trial = Trial(Aspect.EVENTS, "threadtest", 2, arguments)
    with PreloadPaths() as paths:
        execution = ValidationExecution([original], dict(os.environ), paths, 1)
        assert not execution.counts_itself("original")
        return execution.execute(Task("original", trial, 1))


def test_every_lock_of_the_library_is_counted(locked: Path) -> None:
    run = counted(locked)
    assert run.outcome is Outcome.OK, run.detail
    assert run.line is not None
    assert run.line.operations == 20_000
    assert 20_000 <= run.counts["lock_takes"] <= 20_100
    assert 0 < run.counts["lock_hand_overs"] <= run.counts["lock_takes"]


def test_locks_of_the_program_are_not(locked: Path) -> None:
    """With --verify the program takes a lock of its own at every call."""
    assert counted(locked, "--verify").counts["lock_takes"] <= 20_100


def test_the_trials_are_ten_whole_workloads_at_three_numbers_of_threads() -> None:
    trials = list(validation_trials(Extent(2)))
    peaks = {(each.workload, each.threads) for each in trials if each.aspect is Aspect.PEAK}
    assert len(PEAKS) == 10
    assert peaks == {(name, threads) for name in PEAKS for threads in (1, 2, 8)}
    assert all(native.workload(name) for name in PEAKS)
    assert Aspect.INSTRUCTIONS not in {each.aspect for each in trials}


def test_the_limit_runs_only_what_it_limits() -> None:
    with PreloadPaths() as paths:
        execution = ValidationExecution([], dict(os.environ), paths, 1)
        wanted = {each.aspect for each in validation_trials(Extent(2))
                  if execution.wanted(LIMIT, each)}  # fmt: skip
    assert wanted == {Aspect.SPEED}
