# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A program with a call site of short-lived objects: recorded, found, and served apart."""

import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from heapwright.artefacts.tailoring.folder import Question, TailorFolder
from heapwright.commands.record import record_command
from heapwright.commands.tailor_candidates import candidates_of, compile_all
from heapwright.commands.tailor_inputs import WHOLE
from heapwright.commands.tailor_sites import figures_with_sites
from heapwright.record.recorder import HowToRecord
from heapwright.tailor.figures import Figures
from heapwright.tailor.grammar import Sentence
from heapwright.tailor.proposals import propose
from heapwright.tailor.site_variants import site_variants

pytestmark = pytest.mark.compiles


@pytest.fixture(autouse=True)
def parts(needs_programs: Callable[..., None]) -> None:
    needs_programs("record", "profile", "trace")


PROGRAM = """\
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* A free object, as malloc left it, is reused by the next request of its size. */
static void *volatile made;
__attribute__((noinline)) static void brief(void) { made = malloc(24); }
__attribute__((noinline)) static void lasting(void) { made = malloc(24); }

enum { ROUNDS = 20000, KEPT = 100 };

/* Prints how many lasting objects lie between short-lived ones. */
int main(void) {
    static uintptr_t kept[KEPT];
    uintptr_t low = UINTPTR_MAX, high = 0;
    for (int i = 0; i < ROUNDS; ++i) {
        brief();
        const uintptr_t address = (uintptr_t)made;
        low = address < low ? address : low;
        high = address > high ? address : high;
        free(made);
        if (i % (ROUNDS / KEPT) == 0) {
            lasting();
            kept[i / (ROUNDS / KEPT)] = (uintptr_t)made;
        }
    }
    int inside = 0;
    for (int i = 0; i < KEPT; ++i)
        inside += low <= kept[i] && kept[i] <= high;
    printf("%d\\n", inside);
    return 0;
}
"""


def test_only_the_call_site_of_short_lived_objects_has_a_heap_of_its_own(tmp_path: Path) -> None:
    job = built(tmp_path / "job")
    program = recorded(job, tmp_path / "job.trace")
    (key,) = (key for key, each in program.sites.items() if each.allocations == 20_000)
    assert (key.place.module, key.block) == ("job", 32)
    assert program.sites[key].young_share == 1.0
    (lasting,) = (each for each in program.sites.values() if each.allocations == 100)
    assert lasting.lasting_share == 1.0
    sentence = next(each for each in propose(program) if each.core == "fit")
    (variant,) = site_variants(sentence, program)
    assert variant.sites is not None
    assert variant.sites.keys == (key,)

    plain, apart = compiled((sentence, variant), tmp_path / "search")
    assert inside(job, plain) == 100
    assert inside(job, apart) == 0
    assert inside(built(tmp_path / "other"), apart) == 100, "another build predicts nothing"


def test_a_trace_without_stacks_has_no_call_sites(tmp_path: Path) -> None:
    assert recorded(built(tmp_path / "job"), tmp_path / "job.trace", HowToRecord()).sites == {}


def built(program: Path) -> Path:
    """The program, as a build of its own."""
    source = program.with_suffix(".c")
    source.write_text(PROGRAM, encoding="utf-8")
    subprocess.run(["cc", "-O1", "-Wl,--build-id=uuid", "-o", program, source], check=True)
    return program


def recorded(program: Path, trace: Path, how: HowToRecord = WHOLE) -> Figures:
    """As a search records its inputs."""
    outcome, _ = record_command((str(program),), trace, how, stdout=Path(os.devnull))
    assert outcome.exit_status == 0
    return figures_with_sites(trace)


def compiled(sentences: Sequence[Sentence], place: Path) -> tuple[Path, ...]:
    """The libraries of the sentences."""
    question = Question(
        inputs=(),
        unseen=(),
        cwd="",
        name="own",
        peers=(),
        margin=0.02,
        headers="",
        compiler="",
        traces={},
        seed=1,
    )
    with TailorFolder.open(place, question, same_seed=True) as folder:
        candidates = candidates_of(sentences, folder)
        compile_all(candidates, None, lambda *_: None)
    return tuple(each.library for each in candidates)


def inside(program: Path, library: Path) -> int:
    """What the program prints with the library."""
    environment = {**os.environ, "LD_PRELOAD": str(library)}
    done = subprocess.run([program], env=environment, capture_output=True, text=True, check=True)
    return int(done.stdout)
