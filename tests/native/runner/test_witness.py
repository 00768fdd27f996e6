# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The witness: every process of a tree, its provider of malloc, and its CPU time."""

import subprocess
from pathlib import Path

import pytest

from heapwright.artefacts.run.measured import Ending
from heapwright.base import native
from heapwright.experiment.interposition import judge
from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.runner import RunSpec, run_once, with_preload

from .bench import Bench, cpu_of, of

FORWARD = """
#define _GNU_SOURCE
#include <stddef.h>
extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void __libc_free(void*);
void* malloc(size_t n) { return __libc_malloc(n); }
void* realloc(void* p, size_t n) { return __libc_realloc(p, n); }
"""
REST = """
void* calloc(size_t n, size_t s) { return __libc_calloc(n, s); }
void free(void* p) { __libc_free(p); }
"""


def test_the_witness_needs_the_c_library_alone(bench: Bench) -> None:
    done = subprocess.run(
        ["readelf", "-d", native.witness()], capture_output=True, text=True, check=True
    )
    needed = [line.split("[")[1] for line in done.stdout.splitlines() if "NEEDED" in line]
    assert needed == ["libc.so.6]"]
    assert bench.run("/bin/true").exit_status == 0


def test_the_c_library_is_recognised(bench: Bench) -> None:
    run = bench.run(bench.program("use"), "0", "0", "exit")
    (process,) = run.processes
    assert process.provider_is_libc
    assert process.witnessed
    assert judge(run.processes, None, run.balance).effective


def test_a_preloaded_allocator_is_recognised(bench: Bench) -> None:
    library = bench.library("forward", FORWARD + REST)
    run = bench.run(bench.program("use"), "0", "0", "exit", preload=library)
    (process,) = run.processes
    assert process.provider == str(library)
    assert not process.provider_is_libc
    assert judge(run.processes, library, run.balance).effective
    assert not judge(run.processes, None, run.balance).effective


def test_the_witness_sees_calls_through_the_address_of_malloc(bench: Bench) -> None:
    """In such a program, not position-independent, &malloc is the program's own linkage table."""
    source = bench.folder / "address.c"
    source.write_text(
        "#include <stdlib.h>\n"
        "void* (*volatile get)(size_t) = malloc;\n"
        "int main(void) { void* p = get(10); free(p); return p == NULL; }\n"
    )
    program = bench.folder / "address"
    flags = ["-no-pie", "-fno-pie", "-O0"]
    subprocess.run(["cc", *flags, "-o", program, source], check=True)
    library = bench.library("forward", FORWARD + REST)
    run = bench.run(str(program), preload=library)
    assert [process.provider for process in run.processes] == [str(library)]


def test_a_half_replaced_allocator_is_mixed(bench: Bench) -> None:
    library = bench.library("half", FORWARD)
    run = bench.run(bench.program("use"), "0", "0", "exit", preload=library)
    (process,) = run.processes
    assert process.provider is not None
    assert process.provider.startswith("mixed: ")
    assert str(library) in process.provider
    assert "libc.so" in process.provider
    assert not judge(run.processes, library, run.balance).effective
    assert not judge(run.processes, None, run.balance).effective


@pytest.mark.parametrize("ending", ["exit", "_exit", "_Exit", "quick_exit", "return", "raw", "11"])
def test_cpu_time_is_exact_however_a_child_ends(bench: Bench, ending: str) -> None:
    run = bench.run(bench.program("start"), "fork", bench.program("use"), "20", "80", ending)
    (process,) = of(run, "use")
    assert process.cpu_exact
    assert 0.08 <= process.cpu_s < 1
    assert process.ending == (Ending.KILLED if ending == "11" else Ending.EXITED)
    assert run.unaccounted_cpu_s <= run.teardown_allowance_s


@pytest.mark.parametrize("how", ["fork", "vfork", "spawn", "exec", "nowait", "orphan"])
def test_every_way_to_make_a_process(bench: Bench, how: str) -> None:
    start, use = bench.program("start"), bench.program("use")
    run = bench.run("/bin/sh", "-c", f"{start} {how} {use} 0 60 exit | cat")
    (process,) = of(run, "use")
    assert process.witnessed
    assert process.provider_is_libc
    assert 0.06 <= process.cpu_s < 1
    assert all(each.witnessed for each in run.processes)
    assert judge(run.processes, None, run.balance).effective


@pytest.mark.parametrize("how", ["copy", "clone"])
def test_a_copy_that_runs_no_program(bench: Bench, how: str) -> None:
    run = bench.run(bench.program("start"), how)
    parent, child = of(run, "start")
    assert child.ppid == parent.pid
    assert child.witnessed
    assert child.cpu_exact
    assert child.cpu_s >= 0.06 > parent.cpu_s


def test_an_exec_closes_the_image_before_it(bench: Bench) -> None:
    use = bench.program("use")
    run = bench.run(
        "/bin/sh", "-c", f"i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; exec {use} 0 0 exit"
    )
    shell, last = run.processes
    assert shell.pid == last.pid
    assert shell.ending == Ending.REPLACED
    assert Path(last.exe).name == "use"
    assert shell.cpu_s > last.cpu_s
    assert shell.cpu_s + last.cpu_s == pytest.approx(cpu_of(run), abs=1e-4)


def test_a_static_program_that_does_half_of_the_work(bench: Bench) -> None:
    use, static = bench.program("use"), bench.program("use", "-static")
    run = bench.run("/bin/sh", "-c", f"{use} 0 1000 exit; {static} 0 1000 exit")
    finding = judge(run.processes, None, run.balance)
    assert not finding.effective
    assert 0.4 < finding.share < 0.6
    assert [Path(each.exe).name for each in finding.exceptions] == ["use-static"]
    assert not finding.exceptions[0].witnessed


def test_a_static_program_that_does_next_to_nothing(bench: Bench) -> None:
    use, static = bench.program("use"), bench.program("use", "-static")
    run = bench.run("/bin/sh", "-c", f"{static} 0 0 exit; {use} 0 900 exit")
    finding = judge(run.processes, None, run.balance)
    assert finding.effective
    assert 0 < finding.share < 0.01
    assert len(finding.exceptions) == 1
    assert "did not load it" in finding.detail


def test_many_silent_programs_too_short_to_be_met(bench: Bench) -> None:
    """Each lives a millisecond or less. The kernel reported their use to their parent."""
    static = bench.program("use", "-static")
    loop = f"i=0; while [ $i -lt 100 ]; do {static} 0 0 exit; i=$((i+1)); done"
    run = bench.run("/bin/sh", "-c", loop)
    finding = judge(run.processes, None, run.balance)
    assert not finding.effective
    assert sum(process.count for process in finding.exceptions) == 100


def test_a_cleared_environment_is_noticed(bench: Bench) -> None:
    run = bench.run(bench.program("start"), "empty", bench.program("use"), "0", "100", "exit")
    finding = judge(run.processes, None, run.balance)
    assert not finding.effective
    assert finding.share > 0.8


@pytest.mark.parametrize(
    "how",
    ["fork", "execv", "execve", "execvp", "execvpe", "execl", "execlp", "execle", "fexecve"],
)
def test_a_silent_program_too_short_to_be_met_is_not_taken_for_the_one_before(
    bench: Bench, how: str
) -> None:
    """It runs in a process that had reported; only the exec itself tells that it is another."""
    start, static = bench.program("start"), bench.program("use", "-static")
    run = bench.run(start, how, static, "0", "1", "exit")
    assert run.exit_status == 0
    (silent,) = (process for process in run.processes if not process.witnessed)
    assert silent.ending == Ending.EXITED
    assert Path(silent.exe).name in (Path(static).name, "" if how == "fexecve" else None)
    assert silent.pid in [process.pid for process in run.processes if process is not silent]
    assert not judge(run.processes, None, run.balance).effective


@pytest.mark.parametrize("how", ["execv", "execvp", "execle"])
def test_a_program_that_could_not_be_executed_changes_nothing(bench: Bench, how: str) -> None:
    run = bench.run(bench.program("start"), how, "/nowhere", "0", "0", "exit")
    assert run.exit_status == 127
    (process,) = run.processes
    assert process.witnessed
    assert process.ending == Ending.EXITED
    assert judge(run.processes, None, run.balance).effective


def test_a_sandboxed_program_lives(bench: Bench) -> None:
    program = bench.program("sandbox")
    alone = subprocess.run([program], capture_output=True, check=False).returncode
    if alone == 77:
        pytest.skip("the kernel has no seccomp filters")
    run = bench.run("/bin/sh", "-c", f"{program}; exit $?")
    assert (run.exit_status, run.stderr_tail) == (0, "inside\n")
    (process,) = of(run, "sandbox")
    assert process.witnessed
    assert process.ending == Ending.EXITED


def test_errno_does_not_show_it(bench: Bench) -> None:
    assert bench.run(bench.program("errno")).exit_status == 0


def test_a_wait_can_still_be_cancelled(bench: Bench) -> None:
    run = bench.run(bench.program("cancel"))
    assert run.exit_status == 0
    _, child = of(run, "cancel")
    assert (child.ending, child.signal) == (Ending.KILLED, 9)


def test_paths_that_the_loader_cannot_read(bench: Bench, tmp_path: Path) -> None:
    folder = tmp_path / "with a blank: and a colon"
    folder.mkdir()
    library = folder / "lib.so"
    library.write_bytes(bench.library("forward", FORWARD + REST).read_bytes())
    with PreloadPaths() as paths:
        texts = [paths.of(library), paths.of(native.witness())]
        environment = with_preload({"PATH": "/usr/bin:/bin"}, *texts)
        run = run_once(RunSpec((bench.program("use"), "0", "0", "exit"), environment))
        assert judge(run.processes, library, run.balance).effective
