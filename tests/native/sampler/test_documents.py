# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""When a document is written, and by which process."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from heapwright.base import native
from support.running import ran

from .bench import Compiled, Sampled

EVERY = {"mean": "1"}
KEEP = "#include <stdlib.h>\n#include <unistd.h>\n#include <signal.h>\n"


def test_the_exit_writes_a_document(sampled: Sampled, compiled: Compiled) -> None:
    for end in ("return 0;", "exit(0);", "_exit(0);"):
        program = compiled(KEEP + "int main(void) { malloc(1001); " + end + " }")
        [document] = sampled(program, **EVERY).documents
        assert document.head("reason") == "exit"
        assert document.counts(1001) == (1, 1, 1)


def test_a_signal_writes_a_document_and_the_program_continues(
    sampled: Sampled, compiled: Compiled
) -> None:
    program = compiled(
        KEEP + "int main(void) { void* a = malloc(1001); raise(SIGUSR1); free(a);"
        " raise(SIGUSR1); return 7; }"
    )
    run = sampled(program, signal="USR1", **EVERY)
    assert run.done.returncode == 7
    assert [each.head("reason") for each in run.documents] == ["signal", "signal", "exit"]
    assert [each.counts(1001) for each in run.documents] == [(1, 1, 1), (0, 1, 1), (0, 1, 1)]


def test_each_multiple_of_the_threshold_writes_a_document(
    sampled: Sampled, compiled: Compiled
) -> None:
    program = compiled(
        KEEP + "int main(void) { for (int i = 0; i < 40; ++i) malloc(100000); return 0; }"
    )
    run = sampled(program, threshold="1M", mean="1K")
    assert [each.head("reason") for each in run.documents] == ["threshold"] * 3 + ["exit"]
    assert [each.counts(100000)[0] for each in run.documents] == [11, 21, 32, 40]


def test_an_interval_writes_a_document_while_the_program_allocates(
    sampled: Sampled, compiled: Compiled
) -> None:
    program = compiled(
        "#include <time.h>\n" + KEEP + "int main(void) { struct timespec pause = {0, 100000000};"
        " for (int i = 0; i < 25; ++i) { free(malloc(1001)); nanosleep(&pause, 0); } return 0; }"
    )
    run = sampled(program, every="1", **EVERY)
    reasons = [each.head("reason") for each in run.documents]
    assert reasons[-1] == "exit"
    assert set(reasons[:-1]) == {"interval"}


def test_documents_of_a_busy_process_are_complete(sampled: Sampled, compiled: Compiled) -> None:
    """Threads allocate, fork and free while signals come."""
    program = compiled(
        "#include <pthread.h>\n#include <sys/wait.h>\n" + KEEP + "static volatile int over;"
        "static void* work(void* x) { while (!over) { void* kept[50];"
        " for (int i = 0; i < 50; ++i) kept[i] = malloc(100 + i);"
        " for (int i = 0; i < 50; ++i) free(kept[i]); } return x; }"
        "int main(void) { pthread_t t[3];"
        " for (int i = 0; i < 3; ++i) pthread_create(&t[i], 0, work, 0);"
        " for (int i = 0; i < 30; ++i) { kill(getpid(), SIGUSR1);"
        " if (fork() == 0) { free(malloc(3003)); _exit(0); } wait(NULL); }"
        " over = 1; for (int i = 0; i < 3; ++i) pthread_join(t[i], 0); return 0; }"
    )
    run = sampled(program, signal="USR1", mean="256")
    assert run.done.returncode == 0
    reasons = [each.head("reason") for each in run.documents]
    assert reasons.count("exit") == 31
    assert reasons.count("signal") >= 1
    last = next(each for each in run.documents[::-1] if each.counts(3003) == (0, 0, 0))
    assert last.head("lost") == "0"


def test_a_signal_that_ends_the_program_writes_a_document_if_asked(
    sampled: Sampled, compiled: Compiled
) -> None:
    program = compiled(KEEP + "int main(void) { malloc(1001); raise(SIGTERM); return 0; }")
    run = sampled(program, ending="1", **EVERY)
    assert run.done.returncode == -15
    assert [each.counts(1001)[0] for each in run.documents] == [1]
    assert sampled(program, **EVERY).documents == []


def test_a_forked_child_has_live_samples_of_its_parent_and_its_own(
    sampled: Sampled, compiled: Compiled
) -> None:
    program = compiled(
        "#include <sys/wait.h>\n" + KEEP + "int main(void) { void* a = malloc(1001); malloc(2002);"
        " if (fork() == 0) { free(a); malloc(3003); return 0; } wait(NULL); return 0; }"
    )
    documents = sampled(program, **EVERY).documents
    assert len({each.head("process") for each in documents}) == 2
    child = next(each for each in documents if each.counts(3003)[1])
    parent = next(each for each in documents if each is not child)
    assert (child.counts(1001)[:2], child.counts(2002)[:2]) == ((0, 0), (1, 0))
    assert parent.counts(1001)[:2] == (1, 1)


def test_a_handler_of_a_fork_may_request_memory(sampled: Sampled, compiled: Compiled) -> None:
    """Its handlers run while the sampler holds its lock: they were registered before it began."""
    program = compiled(
        "#include <pthread.h>\n#include <sys/wait.h>\n"
        + KEEP
        + "static void* kept; static void prepare(void) { kept = malloc(4004); }"
        " static void after(void) { free(kept); malloc(5005); }"
        " static void early(void) { pthread_atfork(prepare, after, after); }"
        ' __attribute__((section(".preinit_array"), used)) static void (*first)(void) = early;'
        " static void* guard(void* x) { sleep(20); kill(getpid(), SIGKILL); return x; }"
        " int main(void) { pthread_t t; pthread_create(&t, 0, guard, 0);"
        " if (fork() == 0) return 0; wait(NULL); return 0; }"
    )
    run = sampled(program, **EVERY)
    assert run.done.returncode == 0
    assert len({each.head("process") for each in run.documents}) == 2
    assert all(each.counts(5005)[0] == 1 for each in run.documents)
    assert all(each.counts(4004)[0] == 0 for each in run.documents)


def test_a_fork_does_not_wait_for_a_thread_that_flushes_streams(sampled: Sampled) -> None:
    """The thread holds the list of streams, and requests memory that becomes a sample."""
    program = native.program("conformance")
    run = sampled("timeout", "-s", "KILL", "60", program, "fork-streams", mean="4096")
    assert run.done.returncode == 0
    assert len(run.documents) > 2


def test_a_fork_without_its_handlers_is_noticed(sampled: Sampled, compiled: Compiled) -> None:
    program = compiled(
        "#define _GNU_SOURCE\n#include <sys/syscall.h>\n#include <sys/wait.h>\n"
        + KEEP
        + "int main(void) { malloc(1001); if (syscall(SYS_fork) == 0) { malloc(3003); _exit(0); }"
        " wait(NULL); return 0; }"
    )
    documents = sampled(program, **EVERY).documents
    assert len({each.head("process") for each in documents}) == 2
    assert sorted(each.counts(3003)[1] for each in documents) == [0, 1]


def test_the_child_of_a_vfork_writes_nothing(sampled: Sampled, compiled: Compiled) -> None:
    program = compiled(
        "#define _GNU_SOURCE\n#include <sys/wait.h>\n"
        + KEEP
        + "int main(void) { malloc(1001); if (vfork() == 0) _exit(0); wait(NULL); return 0; }"
    )
    [document] = sampled(program, **EVERY).documents
    assert document.counts(1001) == (1, 1, 1)


def test_an_image_after_exec_has_a_document_of_its_own(
    sampled: Sampled, compiled: Compiled
) -> None:
    program = compiled(
        KEEP + "int main(int n, char** a) { malloc(n == 1 ? 1001 : 2002); if (n == 1) {"
        ' raise(SIGUSR1); execl(a[0], a[0], "x", (char*)0); } return 0; }'
    )
    documents = sampled(program, signal="USR1", **EVERY).documents
    assert len({each.head("process") for each in documents}) == 1
    assert [each.counts(1001)[0] for each in documents] == [1, 0]
    assert [each.counts(2002)[0] for each in documents] == [0, 1]


def test_a_process_without_a_sample_writes_nothing_unless_asked(
    sampled: Sampled, compiled: Compiled
) -> None:
    program = compiled("int main(void) { return 0; }")
    assert sampled(program, mean="1T").documents == []
    [document] = sampled(program, mean="1T", empty="1").documents
    assert any("No sample was taken" in note for note in document.profile.notes)


def test_a_thread_carries_its_label(sampled: Sampled, compiled: Compiled) -> None:
    program = compiled(
        "#include <heapwright/c/label.h>\n#include <pthread.h>\n"
        + KEEP
        + "static void* other(void* x) { malloc(2002); return x; }"
        ' int main(void) { pthread_t t; heapwright_label("tenant 7\\n");'
        " malloc(1001); pthread_create(&t, 0, other, 0); pthread_join(t, 0);"
        ' const char* before = heapwright_label("inner"); malloc(3003);'
        " heapwright_label(before); malloc(4004); heapwright_label(0); malloc(5005); return 0; }"
    )
    [document] = sampled(program, **EVERY).documents
    assert document.head("label 1") == "tenant 7?"
    labels = {}
    label = ""
    for line in document.text.splitlines():
        if line.startswith("@ "):
            label = line.split()[1]
        elif line.startswith(" "):
            labels[int(line.split()[0])] = label
    assert [labels[size] for size in (1001, 2002, 3003, 4004, 5005)] == ["1", "0", "2", "1", "0"]
    names = {each.name for each in document.profile.calls.functions}
    assert {"[tenant 7?]", "[inner]"} <= names


def test_a_label_does_nothing_without_the_sampler(compiled: Compiled) -> None:
    program = compiled(
        "#include <heapwright/c/label.h>\n"
        'int main(void) { return heapwright_label("a") != NULL || heapwright_label(0) != NULL; }'
    )
    assert ran([program]).returncode == 0


def test_a_place_that_cannot_be_written_leaves_the_program_unharmed(
    sampled: Sampled, compiled: Compiled, tmp_path: Path
) -> None:
    program = compiled(KEEP + "int main(void) { malloc(1001); return 3; }")
    run = sampled(program, file=str(tmp_path / "absent" / "of"), **EVERY)
    assert run.done.returncode == 3
    assert "no samples are written" in run.done.stderr


def test_a_full_disk_leaves_no_part_of_a_document(
    library: Path, compiled: Compiled, tmp_path: Path
) -> None:
    program = compiled(KEEP + "int main(void) { malloc(1001); return 3; }")
    shell = shutil.which("bash")
    if shell is None:
        pytest.skip("needs bash (Debian's package bash)")
    (tmp_path / "full").mkdir()
    environment = {**os.environ, "HEAPWRIGHT_SAMPLE": "1"}
    environment["HEAPWRIGHT_SAMPLE_FILE"] = str(tmp_path / "full" / "of")
    done = subprocess.run(
        [shell, "-c", f"ulimit -f 0; LD_PRELOAD={library} exec {program}"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert "no samples are written" in done.stderr
    assert list((tmp_path / "full").iterdir()) == []


def test_a_setting_that_cannot_be_read_is_named(front: Sampled, compiled: Compiled) -> None:
    program = compiled("int main(void) { return 0; }")
    for name, text in (("mean", "many"), ("every", "0"), ("threshold", "x"), ("signal", "NONE")):
        done = front(program, **{name: text}).done
        assert done.returncode == 0
        assert "is ignored: expected" in done.stderr, name
