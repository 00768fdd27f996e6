# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`compare --exact` and `gate --exact` on real programs."""

import re
import shutil
from pathlib import Path

import pytest

from heapwright.artefacts.run.exact_counts import COUNTS, INSTRUCTIONS

from .tools import Heapwright, compile_c, read

pytestmark = [
    pytest.mark.usefixtures("native"),
    pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed"),
]

LOOP = """
#include <stdio.h>
#include <stdlib.h>
int main(void) {
    unsigned long sum = 0;
    for (int i = 0; i < 40000; ++i) {
        char *object = malloc((size_t)(16 + i % 200));
        object[0] = (char)i;
        sum += (unsigned long)object[0];
        free(object);
    }
    for (int i = 0; i < EXTRA; ++i) __asm__ volatile("" ::: "memory");
    return sum == 1;
}
"""
EXTRA = 6200
"""Rounds of two instructions: 0.2 % of the six million of the program."""
RANDOM = """
#include <stdlib.h>
#include <time.h>
int main(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    for (long i = now.tv_nsec % 100000; i > 0; --i) free(malloc(100));
    return 0;
}
"""
SHY = """
#include <stdlib.h>
#include <string.h>
int main(void) {
    const char *preload = getenv("LD_PRELOAD");
    free(malloc(1));
    return preload != NULL && strstr(preload, "vgpreload") != NULL ? 3 : 0;
}
"""
"""Fails if valgrind runs it."""

SPINNING = """
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
static volatile int turn;
static int simulated;
static void *spin(void *own) {
    for (int i = 0; i < 3000; ++i) {
        while (turn != (own != NULL)) {
            if (!simulated) sched_yield();
        }
        free(malloc(100));
        turn = own == NULL;
    }
    return NULL;
}
int main(void) {
    const char *preload = getenv("LD_PRELOAD");
    simulated = preload != NULL && strstr(preload, "vgpreload") != NULL;
    pthread_t first, second;
    pthread_create(&first, NULL, spin, NULL);
    pthread_create(&second, NULL, spin, &second);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
"""
"""Two threads that wait for each other. Under valgrind they do not give up their processor. In a
plain run they do, so that it ends in time on a busy machine."""


def program(folder: Path, extra: int) -> Path:
    """The loop with more rounds, as FOLDER/loop."""
    folder.mkdir()
    return compile_c(folder / "loop", LOOP.replace("EXTRA", str(extra)))


def test_counts_repeat_and_a_planted_difference_is_found(
    heapwright: Heapwright, tmp_path: Path
) -> None:
    old, new = program(tmp_path / "old", 0), program(tmp_path / "new", EXTRA)
    for name, command in (("old", old), ("again", old), ("new", new)):
        done = heapwright(
            "compare", "--exact", "-a", "glibc", "--json", f"{name}.json", "--", command
        )
        assert done.status == 0, done.err
        assert "2 runs under valgrind" in done.err
    documents = {name: read(tmp_path / f"{name}.json") for name in ("old", "again", "new")}
    for document in documents.values():
        assert document.design.exact
        counted = [run for run in document.runs if not run.warmup]
        assert [set(run.measures) for run in counted] == [set(COUNTS)] * 2
        assert all(run.wall_s is None and run.peak_rss_bytes is None for run in counted)
        assert all(run.interposed for run in counted)
        assert document.runs[0].wall_s is not None

    def mean(name: str) -> float:
        runs = [run for run in documents[name].runs if not run.warmup]
        return sum(run.measures[INSTRUCTIONS] for run in runs) / len(runs)

    assert 1.001 < mean("new") / mean("old") < 1.003
    same = heapwright("gate", "--exact", "old.json", "again.json")
    assert (same.status, same.out.split(":")[0]) == (0, "The same"), same.out + same.err
    changed = heapwright("gate", "--exact", "old.json", "new.json")
    assert changed.status == 10, changed.out + changed.err
    assert "instructions 0.2" in changed.out


def test_candidates_are_ranked_by_counts(heapwright: Heapwright, tmp_path: Path) -> None:
    command = program(tmp_path / "old", 0)
    done = heapwright("compare", "--exact", "-a", "glibc,lea", "--json", "out.json", "--", command)
    assert done.status == 0, done.err
    document = read(tmp_path / "out.json")
    assert {effect.response for effect in document.effects} == set(COUNTS)
    assert "Instructions" in done.out
    assert "Time" not in done.out.splitlines()[0]
    assert document.verdict.reason in done.out


def test_a_program_that_is_not_deterministic_is_reported(
    heapwright: Heapwright, tmp_path: Path
) -> None:
    command = compile_c(tmp_path / "random", RANDOM)
    done = heapwright("compare", "--exact", "-n", "3", "-a", "glibc", "--", command)
    assert done.status == 0, done.err
    assert "Undecided: the counts do not repeat" in done.out


def test_a_program_that_fails_under_valgrind_alone(heapwright: Heapwright, tmp_path: Path) -> None:
    command = compile_c(tmp_path / "shy", SHY)
    done = heapwright("compare", "--exact", "-a", "glibc,lea", "--", command)
    assert done.status != 0
    assert "does not work under valgrind: compare without --exact" in done.err
    assert "--expect-exit" not in done.err


def test_threads_that_spin_end_at_the_limit(heapwright: Heapwright, tmp_path: Path) -> None:
    command = compile_c(tmp_path / "spinning", SPINNING, "-pthread")
    done = heapwright("compare", "--exact", "--timeout", "3", "-a", "glibc", "--", command)
    assert done.status == 1
    lines = [line for line in done.err.splitlines() if "threads that spin" in line]
    assert len(lines) == 1
    assert "--timeout" in lines[0]
    assert not re.search(r"--[0-9]+-- ", done.err), "valgrind's own lines are no message"


@pytest.mark.parametrize("beside", [["--until", "3%"], ["--cap", "1G"], ["--program", "perl"]])
def test_options_that_exact_excludes(heapwright: Heapwright, beside: list[str]) -> None:
    words = [] if beside[0] == "--program" else ["--", "true"]
    done = heapwright("compare", "--exact", *beside, *words)
    assert done.status == 2
    assert f"{beside[0]} does not go with it" in done.err


def test_without_valgrind_the_package_is_named(
    heapwright: Heapwright, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    done = heapwright("compare", "--exact", "--", "/bin/true")
    assert done.status == 2
    assert "valgrind is not installed" in done.err
    assert "apt-get install valgrind" in done.err


def test_times_are_no_exact_counts(heapwright: Heapwright, worker: Path) -> None:
    done = heapwright("compare", "-n", "1", "-a", "glibc,lea", "--json", "t.json", "--", worker)
    assert done.status == 0, done.err
    refused = heapwright("gate", "--exact", "t.json")
    assert refused.status == 2
    assert "has times and no exact counts" in refused.err
