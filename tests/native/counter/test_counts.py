# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The library counts what programs with a known truth request."""

import os
from pathlib import Path

from heapwright.limit.counts import LIBRARY, VARIABLE, make_file, without_page
from support.running import ran

from .bench import Compiled, Counted

ROUTINES = """
#define _GNU_SOURCE
#include <malloc.h>
#include <stdlib.h>
int main(void) {
    void *a = malloc(100), *b = calloc(10, 20), *c = NULL;
    a = realloc(a, 90);              /* stays and shrinks: no allocation */
    a = realloc(a, 100000);          /* grows */
    c = realloc(c, 7);
    free(b);
    if (posix_memalign(&b, 64, 640)) return 1;
    void *d = aligned_alloc(4096, 4096), *e = memalign(32, 33), *f = reallocarray(NULL, 3, 5);
    if (malloc((size_t)-1 / 2) != NULL) return 1;   /* fails */
    free(NULL);
    free(a); free(b); free(c); free(d); free(e); free(f);
    return malloc_usable_size(malloc(1000)) < 1000;
}
"""
SLACK = """
#include <stdlib.h>
int main(void) {
    for (size_t size = 0; size < 3000; ++size) free(malloc(size));
    free(malloc(200001));
    char *kept = malloc(5);
    return kept == NULL;
}
"""
THREADS = """
#include <pthread.h>
#include <stdlib.h>
static void *work(void *unused) {
    for (int i = 0; i < 10000; ++i) free(malloc(100));
    return unused;
}
int main(void) {
    for (int round = 0; round < 3; ++round) {
        pthread_t threads[70];
        for (int i = 0; i < 70; ++i) if (pthread_create(&threads[i], NULL, work, NULL)) return 1;
        for (int i = 0; i < 70; ++i) pthread_join(threads[i], NULL);
    }
    void *large = malloc(10 << 20);
    free(large);
    return 0;
}
"""
ENDS = """
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv) {
    char *volatile block = malloc(1000);
    if (argc > 1 && !strcmp(argv[1], "fork")) {
        if (fork() == 0) { free(block); block = malloc(3000); _exit(0); }
        wait(NULL);
        return 0;
    }
    if (argc > 1 && !strcmp(argv[1], "exec")) execl(argv[0], argv[0], (char *)NULL);
    if (argc > 1 && !strcmp(argv[1], "kill")) raise(SIGKILL);
    if (argc > 1 && !strcmp(argv[1], "segv")) raise(SIGSEGV);
    return block == NULL;
}
"""
OPERATORS = """
#include <new>
#include <vector>
struct alignas(64) Wide { char bytes[64]; };
int main() {
    std::vector<int> numbers(100);
    delete new Wide;
    delete[] new int[3];
    try { static_cast<void>(::operator new(static_cast<std::size_t>(-1) / 2)); }
    catch (const std::bad_alloc&) {}
    return numbers[50];
}
"""


def test_every_routine_is_counted_once(counted: Counted, compiled: Compiled) -> None:
    done, (process,) = counted(compiled(ROUTINES, "-Wno-alloc-size-larger-than"))
    assert done.returncode == 0
    sizes = (100, 200, 100000, 7, 640, 4096, 33, 15, 1000)
    assert (process.allocations, process.bytes) == (len(sizes), sum(sizes))
    assert process.peak_bytes == 100000 + 7 + 640 + 4096 + 33 + 15
    assert (process.exact, process.cause, process.name) == (True, "start", "program")


def test_live_bytes_are_requested_bytes_for_each_size(counted: Counted, compiled: Compiled) -> None:
    _, (process,) = counted(compiled(SLACK))
    assert process.peak_bytes == 200001
    assert process.bytes == sum(range(3000)) + 200001 + 5


def test_operators_of_cpp_are_counted_once(counted: Counted, compiled: Compiled) -> None:
    program = compiled(OPERATORS, "-static-libgcc", compiler="g++")
    done, (process,) = counted(program)
    assert done.returncode == 0
    of_the_runtime, own = process.allocations - 3, process.bytes - 400 - 64 - 12
    assert (of_the_runtime <= 2, own >= 0) == (True, True)


def test_many_threads_are_counted_exactly(counted: Counted, compiled: Compiled) -> None:
    program = compiled(THREADS, "-pthread")
    found = [counted(program)[1][0] for _ in range(2)]
    own = 3 * 70 * 10000 + 1
    for process in found:
        assert own <= process.allocations <= own + 3 * 70 * 2  # the C library's own, for a thread
        assert 10 << 20 <= process.peak_bytes < (10 << 20) + (1 << 20)


def test_killed_and_crashed_processes_keep_their_counts(
    counted: Counted, compiled: Compiled
) -> None:
    program = compiled(ENDS)
    for end, status in (("kill", -9), ("segv", -11)):
        done, (process,) = counted(program, end)
        assert done.returncode == status
        assert (process.allocations, process.bytes) == (1, 1000)


def test_a_forked_child_begins_with_the_live_bytes_of_its_parent(
    counted: Counted, compiled: Compiled
) -> None:
    _, (parent, child) = counted(compiled(ENDS), "fork")
    assert (parent.cause, parent.allocations, parent.peak_bytes) == ("start", 1, 1000)
    assert (child.cause, child.allocations, child.peak_bytes) == ("fork", 1, 3000)


def test_exec_begins_a_page_with_the_same_pid(counted: Counted, compiled: Compiled) -> None:
    _, (first, second) = counted(compiled(ENDS), "exec")
    assert (first.pid, first.image, second.image) == (second.pid, 0, 1)
    assert (second.cause, second.bytes) == ("exec", 1000)


def test_counts_of_a_program_with_one_thread_are_equal_in_100_runs(
    counted: Counted, compiled: Compiled
) -> None:
    program = compiled(SLACK)
    seen = {
        (process.allocations, process.bytes, process.peak_bytes)
        for _ in range(100)
        for process in counted(program)[1]
    }
    assert len(seen) == 1


def test_without_address_space_for_the_map_sizes_are_usable_sizes(
    counted: Counted, compiled: Compiled
) -> None:
    program = compiled(ENDS)
    done, (process, *_) = counted("sh", "-c", f"ulimit -v 4000000; exec {program}")
    assert done.returncode == 0
    assert process.exact
    last = counted("sh", "-c", f"ulimit -v 4000000; exec {program}")[1][-1]
    assert (last.exact, last.allocations) == (False, 1)
    assert 1000 <= last.peak_bytes < 1100


def test_a_full_file_leaves_the_program_unharmed(
    library: Path, compiled: Compiled, tmp_path: Path
) -> None:
    file = tmp_path / "full"
    make_file(file)
    data = bytearray(file.read_bytes()[:4096])
    data[8:12] = (0).to_bytes(4, "little")
    file.write_bytes(data)
    environment = {**os.environ, "LD_PRELOAD": str(library), VARIABLE: str(file)}
    assert ran([compiled(ENDS)], env=environment).returncode == 0
    assert without_page(file) == 1
    file.write_text("no file of counts")
    assert ran([compiled(ENDS)], env=environment).returncode == 0
    assert LIBRARY in str(library)
