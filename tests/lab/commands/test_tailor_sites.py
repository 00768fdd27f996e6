# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A program with call sites of short-lived objects: recorded, found, and served apart."""

import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from heapwright.artefacts.tailoring.folder import TailorFolder
from heapwright.commands.record import record_command
from heapwright.commands.tailor_candidates import candidates_of, compile_all
from heapwright.commands.tailor_inputs import WHOLE
from heapwright.commands.tailor_sites import figures_with_sites
from heapwright.record.recorder import HowToRecord
from heapwright.tailor.figures import Figures
from heapwright.tailor.grammar import Sentence
from heapwright.tailor.proposals import propose
from heapwright.tailor.site_variants import site_variants
from support.tailoring import QUESTION

pytestmark = pytest.mark.compiles


PROGRAM = """\
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>

enum { ROUNDS = 20000, KEPT = 100 };
static void* volatile made;

/* How many lasting objects lie between the short-lived ones of a routine. A heap that serves all
 * call sites reuses the memory of a short-lived object for a lasting one. */
template <class Request, class Free>
static int inside(Request request, Free release) {
    static std::uintptr_t kept[KEPT];
    std::uintptr_t low = UINTPTR_MAX;
    std::uintptr_t high = 0;
    for (int i = 0; i < ROUNDS; ++i) {
        request();
        const auto address = reinterpret_cast<std::uintptr_t>(made);
        low = address < low ? address : low;
        high = address > high ? address : high;
        release(made);
        if (i % (ROUNDS / KEPT) == 0) {
            made = std::malloc(200);
            kept[i / (ROUNDS / KEPT)] = reinterpret_cast<std::uintptr_t>(made);
        }
    }
    int number = 0;
    for (const std::uintptr_t address : kept)
        number += low <= address && address <= high;
    return number;
}

int main() {
    const auto release = [](void* object) { std::free(object); };
    const auto destroy = [](void* object) { ::operator delete(object); };
    const auto destroyArray = [](void* object) { ::operator delete[](object); };
    std::printf("%d ", inside([] { made = std::malloc(200); }, release));
    std::printf("%d ", inside([] { made = std::calloc(2, 100); }, release));
    std::printf("%d ", inside([] { made = std::realloc(nullptr, 200); }, release));
    std::printf("%d ", inside([] { made = ::operator new(200); }, destroy));
    std::printf("%d\\n", inside([] { made = ::operator new[](200); }, destroyArray));
}
"""
ALL, NONE = "100 100 100 100 100\n", "0 0 0 0 0\n"


@pytest.fixture(autouse=True)
def parts(needs_programs: Callable[..., None]) -> None:
    needs_programs("record", "profile", "trace")


def test_only_the_call_sites_of_short_lived_objects_have_a_heap_of_their_own(
    tmp_path: Path,
) -> None:
    job = built(tmp_path / "job")
    program = recorded(job, tmp_path / "job.trace")
    brief = {key for key, each in program.sites.items() if each.allocations == 20_000}
    assert len(brief) == 5
    assert {(key.place.module, key.block) for key in brief} == {("job", 208)}
    assert all(program.sites[key].young_share == 1.0 for key in brief)
    lasting = [each for each in program.sites.values() if each.allocations == 100]
    assert [each.lasting_share for each in lasting] == [1.0] * 5
    sentence = next(each for each in propose(program) if each.core == "fit")
    apart, packed, _ = site_variants(sentence, program)
    assert set(apart.sites[0].keys) == brief
    assert len(packed.sites[0].keys) == 5

    libraries = compiled((sentence, apart, packed), tmp_path / "search")
    assert [printed(job, each) for each in libraries] == [ALL, NONE, NONE]
    (_, apart_library, _) = libraries
    assert printed(built(tmp_path / "other"), apart_library) == ALL, (
        "another build predicts nothing"
    )


def test_a_trace_without_stacks_has_no_call_sites(tmp_path: Path) -> None:
    assert recorded(built(tmp_path / "job"), tmp_path / "job.trace", HowToRecord()).sites == {}


def built(program: Path) -> Path:
    """The program, as a build of its own."""
    source = program.with_suffix(".cpp")
    source.write_text(PROGRAM, encoding="utf-8")
    subprocess.run(["c++", "-O1", "-Wl,--build-id=uuid", "-o", program, source], check=True)
    return program


def recorded(program: Path, trace: Path, how: HowToRecord = WHOLE) -> Figures:
    """As a search records its inputs."""
    outcome, _ = record_command((str(program),), trace, how, stdout=Path(os.devnull))
    assert outcome.exit_status == 0
    return figures_with_sites(trace)


def compiled(sentences: Sequence[Sentence], place: Path) -> tuple[Path, ...]:
    """The libraries of the sentences."""
    with TailorFolder.open(place, QUESTION, same_seed=True) as folder:
        candidates = candidates_of(sentences, folder)
        compile_all(candidates, None, lambda *_: None)
    return tuple(each.library for each in candidates)


def printed(program: Path, library: Path) -> str:
    """What the program prints with the library."""
    environment = {**os.environ, "LD_PRELOAD": str(library)}
    done = subprocess.run([program], env=environment, capture_output=True, text=True, check=True)
    return done.stdout
