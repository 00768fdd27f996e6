# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What is sampled: with the mean distance of one byte, every block of some size is a sample."""

from itertools import pairwise
from pathlib import Path

import pytest

from heapwright.artefacts.stacks.intervals import estimate, interval
from heapwright.base import native

from .bench import Compiled, Sampled

EVERY = {"mean": "1"}
ROUTINES = r"""
#define _GNU_SOURCE
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
    void* aligned = NULL;
    free(malloc(1001));
    free(calloc(7, 143 * 2));                 /* 2002 */
    void* grown = realloc(malloc(3003), 4004);
    free(memalign(64, 5005));
    free(aligned_alloc(64, 6016));
    if (posix_memalign(&aligned, 64, 7007) != 0) return 1;
    free(aligned);
    free(valloc(8008));
    free(reallocarray(NULL, 3, 3003));        /* 9009 */
    void* kept = malloc(11011);
    volatile size_t much = (size_t)1 << 62;
    if (realloc(kept, much) != NULL) return 2;  /* kept is still live */
    if (malloc(much) != NULL) return 3;
    memset(kept, 1, 11011);
    (void)grown;
    return 0;
}
"""
OPERATORS = r"""
#include <cstdint>
#include <new>
struct alignas(64) Wide { char bytes[7040]; };
int main() {
    delete[] new char[1001];
    delete new (std::nothrow) Wide;
    char* kept = new char[3003];
    try { (void)new char[PTRDIFF_MAX / 2]; return 1; } catch (const std::bad_alloc&) {}
    return kept == nullptr;
}
"""
THREADS = r"""
#include <pthread.h>
#include <stdlib.h>
enum { THREADS = 8, EACH = 2000 };
static void* given[THREADS][EACH];
static void* work(void* number) {
    void** mine = given[(long)number];
    for (int i = 0; i < EACH; ++i) mine[i] = malloc(100 + 8 * (i % 16));
    for (int i = 0; i < EACH; i += 2) mine[i] = realloc(mine[i], 1000);
    return NULL;
}
static void* release(void* number) {       /* what another thread has allocated */
    void** theirs = given[((long)number + 1) % THREADS];
    for (int i = 1; i < EACH; i += 2) free(theirs[i]);
    return NULL;
}
static void all(void* (*task)(void*)) {
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; ++i) pthread_create(&threads[i], NULL, task, (void*)i);
    for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
}
int main(void) {
    all(work);
    all(release);
    return 0;
}
"""
COVERAGE = r"""
#include <signal.h>
#include <stdlib.h>
static void use(size_t size) { free(malloc(size)); }
int main(void) {
    for (int round = 0; round < ROUNDS; ++round) {
        for (int i = 0; i < 300; ++i) use(100);
        for (int i = 0; i < 60; ++i) use(1000);
        for (int i = 0; i < 10; ++i) use(9000);
        raise(SIGUSR2);
    }
    return 0;
}
"""
TRUTH = 300 * 100 + 60 * 1000 + 10 * 9000


def test_each_routine_is_sampled_with_its_requested_size(
    sampled: Sampled, compiled: Compiled
) -> None:
    [document] = sampled(compiled(ROUTINES), **EVERY).documents
    for size in (1001, 2002, 3003, 5005, 6016, 7007, 8008, 9009):
        assert document.counts(size)[:2] == (0, 1), size
    assert document.counts(4004)[:2] == (1, 1)


def test_a_realloc_that_fails_leaves_its_block_live(sampled: Sampled, compiled: Compiled) -> None:
    run = sampled(compiled(ROUTINES), **EVERY)
    assert run.done.returncode == 0
    assert run.documents[0].counts(11011)[:2] == (1, 1)


@pytest.mark.parametrize("behind", ["", "granary", "lea"])
def test_an_operator_is_sampled_once(behind: str, sampled: Sampled, compiled: Compiled) -> None:
    """Whether the allocator has it, or the runtime's calls malloc."""
    library = str(native.library(behind)) if behind else ""
    run = sampled(compiled(OPERATORS, ".cpp"), behind=library, **EVERY)
    assert run.done.returncode == 0
    [document] = run.documents
    assert document.counts(1001)[:2] == (0, 1)
    assert document.counts(7040)[:2] == (0, 1)
    assert document.counts(3003)[:2] == (1, 1)


def test_a_free_of_null_ends_no_sample(sampled: Sampled, compiled: Compiled) -> None:
    """The block's address and null share a byte of the filter."""
    program = compiled(
        "#include <stdlib.h>\nint main(void)"
        "{ void* block = aligned_alloc(4 << 20, 4 << 20);"
        " for (int i = 0; i < 9; ++i) { free(NULL); free(realloc(NULL, 1001)); }"
        " return block == NULL; }"
    )
    run = sampled(program, **EVERY)
    assert run.done.returncode == 0
    assert run.documents[0].counts(4 << 20) == (1, 1, 1)
    assert run.documents[0].counts(1001)[:2] == (0, 9)


def test_blocks_that_threads_exchange_are_counted_exactly(
    sampled: Sampled, compiled: Compiled
) -> None:
    run = sampled(compiled(THREADS), **EVERY)
    [document] = run.documents
    assert document.head("lost") == "0"
    assert document.counts(1000)[:2] == (8000, 8000)
    for size in range(100, 100 + 8 * 16, 8):
        assert document.counts(size)[:2] == (0, 1000), size


@pytest.mark.parametrize(
    ("form", "rounds", "bias", "bounds"),
    [
        ("front", 1000, 0.02, (0.93, 0.97)),
        ("inside", 150, 0.05, (0.90, 0.99)),
        pytest.param("inside", 1000, 0.02, (0.93, 0.97), marks=pytest.mark.slow),
    ],
)
def test_the_estimate_is_unbiased_and_its_interval_has_the_stated_coverage(
    form: str,
    rounds: int,
    bias: float,
    bounds: tuple[float, float],
    request: pytest.FixtureRequest,
) -> None:
    """Rounds of one program: the differences of documents that follow each other."""
    sampled: Sampled = request.getfixturevalue(form)
    compiled: Compiled = request.getfixturevalue("compiled")
    program = compiled(COVERAGE.replace("ROUNDS", str(rounds + 1)))
    documents = sampled(program, mean="8K", seed="11", signal="USR2").documents
    assert len(documents) == rounds + 2  # with that of the exit
    made = [[document.counts(size)[1] for size in (100, 1000, 9000)] for document in documents]
    total, within = 0.0, 0
    for before, after in pairwise(made[: rounds + 1]):
        counts = [new - old for old, new in zip(before, after, strict=True)]
        found = estimate(zip((100, 1000, 9000), counts, strict=True), 8192)
        low, high = interval(found.bytes, found.variance)
        total += found.bytes
        within += low <= TRUTH <= high
    assert total / rounds == pytest.approx(TRUTH, rel=bias)
    assert bounds[0] <= within / rounds <= bounds[1]


def test_equal_seeds_give_equal_samples(sampled: Sampled, compiled: Compiled) -> None:
    program = compiled(THREADS.replace("THREADS = 8", "THREADS = 1"))
    texts = [
        [
            line
            for line in sampled(program, mean="4K", seed="3").documents[0].text.splitlines()
            if line.startswith(" ")
        ]
        for _ in range(2)
    ]
    assert texts[0] == texts[1]
    assert texts[0]


def test_full_tables_lose_samples_and_say_so(front: Sampled, compiled: Compiled) -> None:
    program = compiled(
        "#include <stdlib.h>\nint main(void)"
        "{ for (int i = 0; i < 120000; ++i) malloc(64); return 0; }"
    )
    [document] = front(program, **EVERY).documents
    live, made, _ = document.counts(64)
    assert live == 98304
    assert made + int(document.head("lost")) >= 120000
    assert any("no room" in note for note in document.profile.notes)


def test_the_call_site_of_a_sample_is_the_programs(sampled: Sampled, compiled: Compiled) -> None:
    run = sampled(compiled(OPERATORS, ".cpp"), **EVERY)
    paths = {Path(each.path).name for each in run.documents[0].profile.calls.objects}
    assert "program" in paths
    assert not any(name.startswith("libheapwright-") for name in paths)
