# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What holds for granary with samples only: its setting, its blocks, and its plain behaviour."""

import os
from pathlib import Path

import pytest

from heapwright.base import native
from support.running import ran

from .bench import Compiled, Sampled

EVERY = {"mean": "1"}
BLOCKS = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int is(const char* block, size_t size, int byte) {
    for (size_t i = 0; i < size; ++i) if (block[i] != byte) return 0;
    return 1;
}
int main(void) {
    /* Sizes on both sides of every limit: contents, alignment and usable bytes. */
    for (size_t size = 1; size < 70000; size += 1 + size / 7) {
        char* zeros = calloc(1, size);
        if (!is(zeros, size, 0) || malloc_usable_size(zeros) < size) return 1;
        memset(zeros, 7, malloc_usable_size(zeros));
        char* grown = realloc(zeros, 2 * size);
        if (!is(grown, size, 7)) return 2;
        char* shrunk = realloc(grown, size / 2 + 1);
        if (!is(shrunk, size / 2 + 1, 7)) return 3;
        free(shrunk);
        for (size_t to = 16; to <= (4 << 20); to *= 4) {
            char* aligned = aligned_alloc(to, size);
            if ((uintptr_t)aligned % to != 0) return 4;
            memset(aligned, 1, size);
            free(aligned);
        }
    }
    /* What fails changes nothing. */
    char* kept = strcpy(malloc(3003), "kept");
    for (volatile size_t much = (size_t)1 << 62; much != 0; much *= 2) {
        errno = 0;
        if (malloc(much) != NULL || errno != ENOMEM) return 5;
        if (malloc(-much) != NULL || calloc(much, 1) != NULL) return 6;
        if (realloc(kept, -much) != NULL) return 6;
        if (aligned_alloc(64, much) != NULL || strcmp(kept, "kept") != 0) return 7;
    }
    if (aligned_alloc(48, 64) != NULL || errno != EINVAL) return 8;
    free(malloc(5005));
    return 0;
}
"""
WITHOUT_MEMORY = r"""
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/resource.h>
int main(void) {
    void* block;
    for (int i = 0; i < 100; ++i) if (posix_memalign(&block, 64, 100) != 0) return 1;
    const struct rlimit none = {1 << 20, 1 << 20};
    setrlimit(RLIMIT_AS, &none);
    long served = 0;
    while (posix_memalign(&block, 64, 100) == 0) ++served;
    return aligned_alloc(64, 100) == NULL ? 0 : 2;
}
"""
SETTING = r"""
#include <heapwright/c/granary.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
int main(void) {
    char text[32] = "";
    free(malloc(1001));
    heapwright_granary_get("sample", text, sizeof text);
    printf("%s %d\n", text, heapwright_granary_set("sample", "64K") == EINVAL);
    return 0;
}
"""


@pytest.mark.parametrize("mean", ["1", "3K"])
def test_blocks_are_as_in_granary(mean: str, inside: Sampled, compiled: Compiled) -> None:
    run = inside(compiled(BLOCKS), mean=mean)
    assert run.done.returncode == 0
    if mean == "1":
        [document] = run.documents
        assert document.counts(3003)[:2] == (1, 1)
        assert document.counts(5005)[:2] == (0, 1)


def test_without_memory_for_a_sample_a_request_is_served_plainly(
    inside: Sampled, compiled: Compiled
) -> None:
    run = inside(compiled(WITHOUT_MEMORY), mean="3K")
    assert run.done.returncode == 0


@pytest.mark.parametrize(
    ("mean", "text"), [("8589934592", "8G"), ("524288", "512K"), ("3M", "3M"), ("off", "off")]
)
def test_the_program_reads_the_setting_and_cannot_change_it(
    mean: str, text: str, inside: Sampled, compiled: Compiled
) -> None:
    run = inside(compiled(SETTING), mean=mean)
    assert run.done.stdout == f"{text} 1\n"
    assert run.done.stderr == ""


def test_without_the_setting_nothing_is_sampled(inside: Sampled, compiled: Compiled) -> None:
    run = inside(compiled(SETTING), empty="1")
    assert run.done.stdout == "off 1\n"
    assert run.documents == []


def test_a_wrong_setting_is_reported_and_nothing_is_sampled(
    inside: Sampled, compiled: Compiled
) -> None:
    run = inside(compiled(SETTING), mean="many")
    assert "sample cannot be 'many', only off or a number of bytes as 512K" in run.done.stderr
    assert run.documents == []


@pytest.mark.parametrize("name", ["granary", "granary-strict", "granary-hardened"])
def test_a_library_without_samples_says_so(name: str, compiled: Compiled, tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "LD_PRELOAD": str(native.library(name)),
        "HEAPWRIGHT_GRANARY": "sample=512K",
        "HEAPWRIGHT_SAMPLE_FILE": str(tmp_path / "of"),
    }
    done = ran([compiled(SETTING)], env=environment)
    assert done.returncode == 0
    assert done.stderr == (
        "heapwright: HEAPWRIGHT_GRANARY: sample has no effect in this library; preload "
        "libheapwright-granary-sampled.so instead\n"
    )
    assert not list(tmp_path.glob("*.samples"))
