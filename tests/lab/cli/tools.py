# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Tiny C programs and libraries to point the command line at, compiled on the spot."""

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from heapwright.artefacts.comparison.document import Comparison

FORWARDING = """
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void __libc_free(void *);
static int calls;
static void count(void) { if (__sync_add_and_fetch(&calls, 1) > LIMIT) { AFTER; } }
void *malloc(size_t n) { count(); return __libc_malloc(n); }
void *calloc(size_t n, size_t s) { count(); return __libc_calloc(n, s); }
void *realloc(void *p, size_t n) { count(); return __libc_realloc(p, n); }
void free(void *p) { __libc_free(p); }
"""
"""A malloc that lets the C library work, and does AFTER when it was called LIMIT times."""

WORKER = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv) {
    const int count = argc > 1 ? atoi(argv[1]) : 2000;
    char **all = malloc(sizeof *all * (size_t)count);
    for (int i = 0; i < count; ++i) memset(all[i] = malloc(100), 1, 100);
    for (int i = 0; i < count; ++i) free(all[i]);
    free(all);
    if (argc > 2) usleep((unsigned)atoi(argv[2]) * 1000);
    return 0;
}
"""
"""Allocates as often as its first argument says, then sleeps the milliseconds of its second."""


@dataclass(frozen=True, slots=True)
class Done:
    status: int
    out: str
    err: str


Heapwright = Callable[..., Done]


def compile_c(path: Path, text: str, *flags: str, compiler: str = "cc") -> Path:
    """Compile a C program or library, or skip with the reason if this machine cannot."""
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed (package gcc)")
    source = path.with_suffix(".c")
    source.write_text(text)
    command = [compiler, "-O1", "-fno-builtin", str(source), "-o", str(path), *flags]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"{' '.join(command)} does not work here: {done.stderr[-300:]}")
    return path


def library(path: Path, text: str, *flags: str) -> Path:
    return compile_c(path, text, "-shared", "-fPIC", *flags)


def forwarding(path: Path, after: str = "", limit: int = 1000) -> Path:
    """A malloc of the tests that does `after` once it was called `limit` times."""
    return library(path, FORWARDING.replace("AFTER", after).replace("LIMIT", str(limit)))


def read(path: Path) -> Comparison:
    """The document that `--json` wrote."""
    return Comparison.from_json(path.read_text(encoding="utf-8"))
