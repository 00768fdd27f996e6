# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a library ends a program that misuses the heap with the words that its layers promise.

One small program has all the mistakes, one a routine. Each is made by a process of its own, with
only the library preloaded.
"""

import signal
from collections.abc import Mapping
from pathlib import Path

from heapwright.base.errors import HeapwrightError
from heapwright.compose.compiler import Compiler, write
from heapwright.compose.conformance import FOREIGN, Failed, is_of_machine
from heapwright.compose.processes import run

LIMIT_S = 60.0
MISTAKES: Mapping[str, str] = {
    "double-free": "void* object = malloc(24); free(object); free(object);",
    "double-free-later": "void* object = malloc(24); void* other = malloc(24); free(object); "
    "free(other); free(malloc(500)); free(object);",
    "free-interior": "char* object = (char*)calloc(1, 100); free(object + 16);",
    "free-misaligned": "char* object = (char*)malloc(100); free(object + 1);",
    "free-stack": "alignas(16) char array[64] = {0}; free(array + 32);",
    "free-static": "free(still + 32);",
    "realloc-freed": "void* object = malloc(100); free(object); object = realloc(object, 200);",
    "realloc-stack": "alignas(16) char array[64] = {0}; realloc(array + 32, 100);",
    "free-sized-larger": "free_sized(malloc(100), 5000);",
    "free-aligned-sized-larger": "free_aligned_sized(aligned_alloc(64, 100), 64, 50000);",
}
"""By name, the body of the routine."""
HEAD = """#include <malloc.h>
#include <stdlib.h>
#include <string.h>
extern "C" __attribute__((weak)) void free_sized(void*, size_t);
extern "C" __attribute__((weak)) void free_aligned_sized(void*, size_t, size_t);
alignas(32768) static char still[64];
int main(int, char** words) {
"""


def wrong_endings(
    promises: Mapping[str, str], library: str, compiler: Compiler, environment: Mapping[str, str]
) -> tuple[Failed, ...]:
    """The promises that a library breaks. `promises` has the words of each mistake of `MISTAKES`.

    Raises HeapwrightError where the program cannot be made or run.
    """
    program = _program(compiler)
    plain = {key: text for key, text in environment.items() if not key.startswith(FOREIGN)}
    found = []
    for name, words in promises.items():
        wanted = f"heapwright: {words}\n"
        try:
            done = run([program, name], LIMIT_S, plain | {"LD_PRELOAD": library})
        except OSError as error:
            raise HeapwrightError(f"{program} cannot be run: {error.strerror or error}") from error
        if done.status == -signal.SIGABRT and done.stderr == wanted:
            continue
        said = done.stderr.strip() or "nothing"
        why = f"it {_end(done.status)} and said {said!r}"
        found.append(Failed(name, words, why, is_of_machine(done.status)))
    return tuple(found)


def _program(compiler: Compiler) -> Path:
    source, program = compiler.folder / "mistakes.cpp", compiler.folder / "mistakes"
    cases = "".join(
        f'    if (strcmp(words[1], "{name}") == 0) {{ {body} return 0; }}\n'
        for name, body in MISTAKES.items()
    )
    write(source, f"{HEAD}{cases}    return 2;\n}}\n")
    flags = ["-std=c++20", "-w", "-O0", "-fno-builtin"]
    answer = compiler.build([*flags, source, "-o", program])
    if not answer.valid:
        raise HeapwrightError("the program of the mistakes does not compile", answer.pages[:2000])
    return program


def _end(status: int | None) -> str:
    if status is None:
        return f"is not over in {LIMIT_S:g} s"
    if status < 0:
        return f"was killed by {signal.Signals(-status).name}"
    return f"ended with status {status}"
