# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright limit` on the command line: budgets that are kept and exceeded, and processes."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from heapwright.artefacts.limit.document import Budget, Kind, Limit, Unit, Verdict
from heapwright.artefacts.trace.file import TraceInfo, trace_info
from heapwright.base.errors import ExitCode
from heapwright.commands import limit as limit_command
from heapwright.profile.run import profile_trace

from .tools import Heapwright, compile_c

PROGRAM = """
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static void *kept[1000];
__attribute__((noinline)) void fill(int count) {
    for (int i = 0; i < count; ++i) kept[i] = malloc(1000);
}
__attribute__((noinline)) void drop(int count) {
    for (int i = 0; i < count; ++i) { free(kept[i]); kept[i] = 0; }
}
__attribute__((noinline)) void lose(int count) {
    for (int i = 0; i < count; ++i) memset(malloc(100), 1, 100);
}
__attribute__((noinline)) void overwrite_stack(void) {
    volatile char room[262144]; /* more than the recorder uses below malloc */
    for (unsigned i = 0; i < sizeof room; ++i) room[i] = 0;
}
__attribute__((noinline)) int idle(int n) { return n * 3; }
int main(int argc, char **argv) {
    lose(argc > 1 ? atoi(argv[1]) : 0);
    overwrite_stack();
    fill(200);
    drop(200);
    if (argc > 2 && !strcmp(argv[2], "fork")) {
        if (fork() == 0) { fill(500); _exit(0); }
        wait(0);
    }
    if (argc > 2 && !strcmp(argv[2], "crash")) abort();
    if (argc > 2 && !strcmp(argv[2], "kill")) raise(SIGKILL);
    if (argc > 2 && !strcmp(argv[2], "fail")) return 7;
    return idle(argc) == 0;
}
"""


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """200 blocks of 1000 bytes, freed; lost blocks by the first argument; an end by the second.

    At any address: the heap of one at a fixed address is where small numbers look like pointers.
    """
    flags = ("-g", "-fPIE", "-pie")
    return compile_c(tmp_path_factory.mktemp("limit") / "program", PROGRAM, *flags)


def document(path: str = "L") -> Limit:
    return Limit.model_validate_json(Path(path).read_bytes())


def test_kept_budgets_have_status_zero_and_a_line_each(
    native: Path, heapwright: Heapwright, program: Path
) -> None:
    assert native.exists()
    budgets = ["--allocations=300", "--bytes=1M", "--peak=300K", "--leaks=0", "--no-alloc-in=idle"]
    done = heapwright("limit", *budgets, "--json", "L", "--", program)
    assert done.status == 0, done.err
    assert [line.partition(",")[0] for line in done.err.splitlines()[:5]] == [
        "allocations: within",
        "bytes: within",
        "peak: within",
        "leaks: within",
        "no-alloc-in idle: within",
    ]
    found = document()
    assert found.within
    assert {each.verdict for each in found.budgets} == {Verdict.WITHIN}
    (process,) = found.processes
    assert (process.allocations, process.bytes, process.peak_bytes) == (200, 200000, 200000)


def test_exceeded_budgets_have_status_one_and_name_the_sites(
    native: Path, heapwright: Heapwright, program: Path
) -> None:
    assert native.exists()
    budgets = ["--allocations=199", "--bytes=9", "--peak=100K", "--leaks=2", "--no-alloc-in=fill"]
    done = heapwright("limit", *budgets, "--json", "L", "--", program, "3")
    assert done.status == 1
    assert "allocations: exceeded, 203 allocations, at most 199 allocations" in done.err
    assert "  200 allocations: fill (program.c:9)\n      called by main (program.c:25)" in done.err
    assert (
        "leaks: exceeded, 3 blocks, at most 2 blocks\n  3 blocks: lose (program.c:15)" in done.err
    )
    assert "no-alloc-in fill: exceeded, 200 allocations" in done.err
    found = {each.budget.name: each for each in document().budgets}
    assert {each.verdict for each in found.values()} == {Verdict.EXCEEDED}
    assert [each.amount for each in found["peak"].sites] == [200000, 300]
    assert found["peak"].figure == 200300
    assert sum(each.amount for each in found["bytes"].sites) == found["bytes"].figure == 200300
    assert [each.amount for each in found["leaks"].sites] == [3]


def test_without_sites_the_figures_are_the_same(
    native: Path, heapwright: Heapwright, program: Path
) -> None:
    assert native.exists()
    budgets = ("--allocations=499", "--bytes=1M", "--peak=100K", "--json=L")
    found = []
    for option in ("--sites", "--no-sites"):
        assert heapwright("limit", *budgets, option, "--", program, "5", "fork").status == 1
        found.append(document())
    same = [
        [each.model_copy(update={"pid": 0, "command": ()}) for each in answer.processes]
        for answer in found
    ]
    assert same[0] == same[1]
    verdicts = [[(each.verdict, each.figure) for each in answer.budgets] for answer in found]
    assert verdicts[0] == verdicts[1]
    assert [bool(answer.budgets[0].sites) for answer in found] == [True, False]


def test_counts_and_profile_agree(native: Path, heapwright: Heapwright, program: Path) -> None:
    assert native.exists()
    heapwright("limit", "--peak=0", "--json=L", "-o", "T", "--", program, "5")
    (process,) = document().processes
    profile = profile_trace(Path("T"))
    assert process.allocations == profile.totals.allocations == 205
    assert process.bytes == profile.totals.bytes
    assert process.peak_bytes == profile.peak_live_bytes


def test_what_needs_a_recording_is_refused_without_sites(
    native: Path, heapwright: Heapwright
) -> None:
    assert native.exists()
    for budget in ("--leaks=0", "--no-alloc-in=main", "-o=T"):
        done = heapwright("limit", "--no-sites", budget, "--", "true")
        assert (done.status, "needs a recording" in done.err) == (2, True)


def test_processes_that_no_preload_reaches_make_budgets_unknown(
    native: Path, heapwright: Heapwright
) -> None:
    assert native.exists()
    busy = "int main(void) { for (volatile long i = 0; i < 100000000; ++i) {} return 0; }"
    static = compile_c(Path("fixed").absolute(), busy, "-static")
    command = ("--", "sh", "-c", f"{static}; :")
    done = heapwright("limit", "--no-sites", "--peak=1G", *command)
    assert done.status == 1
    assert "at most 1.0 GiB: fixed is statically linked, so it was not counted" in done.err
    assert "of the processor time was not recorded: fixed is statically linked" in done.err
    done = heapwright("limit", "--leaks=0", "--peak=0", *command)
    assert "leaks: unknown" in done.err
    assert "blocks: fixed is statically linked, so it was not searched" in done.err
    assert "peak: exceeded" in done.err
    alone = ("--no-follow-children", "--no-sites", "--peak=1G")
    assert heapwright("limit", *alone, *command).status == 0


def test_a_recording_that_stopped_makes_leaks_unknown_and_no_counts(
    native: Path,
    heapwright: Heapwright,
    program: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert native.exists()
    assert heapwright("limit", "--leaks=0", "--", program).status == 0

    def stopped(trace: Path) -> TraceInfo:
        return trace_info(trace).model_copy(update={"stop": "disk-full"})

    monkeypatch.setattr("heapwright.commands.limit.trace_info", stopped)
    options = limit_command.Options(
        command=(str(program), "0"),
        budgets=(
            Budget(kind=Kind.LEAKS, unit=Unit.BLOCKS, limit=0),
            Budget(kind=Kind.ALLOCATIONS, unit=Unit.ALLOCATIONS, limit=300),
        ),
        sites=True,
        follow=True,
        json_file="L",
        output=None,
        quiet=False,
    )
    assert limit_command.run_limit(options) == 1
    leaks, allocations = document().budgets
    assert (leaks.verdict, leaks.figure) == (Verdict.UNKNOWN, None)
    assert leaks.reason == "recording stopped early: the disk was full"
    assert (allocations.verdict, allocations.figure) == (Verdict.WITHIN, 200)


def test_an_answer_that_cannot_be_printed_has_a_status_of_its_own(
    native: Path, heapwright: Heapwright, program: Path
) -> None:
    assert native.exists()
    words = [sys.executable, "-m", "heapwright", "limit", "--peak=1M", "--", str(program)]
    assert heapwright(*words[3:]).status == 0
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(words, stderr=full, check=False)
    assert done.returncode == ExitCode.NOT_WRITTEN


def test_files_that_cannot_be_written_are_refused_before_the_command_runs(
    native: Path, heapwright: Heapwright
) -> None:
    assert native.exists()
    for option in ("-o", "--json"):
        done = heapwright("limit", option, "/no-folder/T", "--", "touch", "ran")
        assert done.status == 2
        assert f"{option} /no-folder/T cannot be written: there is no folder" in done.err
        assert len(done.err.splitlines()) == 2
        assert not Path("ran").exists()


def test_one_file_for_the_trace_and_the_document_is_refused(heapwright: Heapwright) -> None:
    done = heapwright("limit", "-o", "T", "--json", "T", "--", "touch", "ran")
    assert done.status == 2
    assert "--json and -o cannot write to the same place" in done.err
    assert not Path("ran").exists()


def test_a_child_that_was_not_followed_is_counted_once(
    native: Path, heapwright: Heapwright, program: Path
) -> None:
    assert native.exists()
    alone = ("--no-follow-children", "--leaks=0")
    done = heapwright("limit", *alone, "--", "timeout", "9", program)
    assert "  1 process that it started was not recorded" in done.err


def test_a_budget_of_zero_is_a_budget(native: Path, heapwright: Heapwright, program: Path) -> None:
    assert native.exists()
    idle = compile_c(Path("none").absolute(), "int main(void) { return 0; }\n")
    budgets = ("--allocations=0", "--bytes=0", "--peak=0")
    assert heapwright("limit", *budgets, "--", idle).status == 0
    done = heapwright("limit", "-q", *budgets, "--", program)
    assert done.status == 1
    assert len(done.err.splitlines()) == 3


def test_leaks_are_counted_in_blocks_or_with_a_unit_in_bytes(
    native: Path, heapwright: Heapwright, program: Path
) -> None:
    assert native.exists()
    assert heapwright("limit", "--leaks=300B", "--", program, "3").status == 0
    done = heapwright("limit", "--leaks=200B", "--", program, "3")
    assert done.status == 1
    assert "leaks: exceeded, 300 B, at most 200 B" in done.err


def test_each_process_has_to_keep_the_budgets_by_itself(
    native: Path, heapwright: Heapwright, program: Path
) -> None:
    assert native.exists()
    assert heapwright("limit", "--allocations=500", "--", program, "0", "fork").status == 0
    done = heapwright("limit", "--allocations=499", "--json=L", "--", program, "0", "fork")
    assert done.status == 1
    assert "500 allocations, at most 499 allocations, in process 1 (program, pid " in done.err
    assert [(each.cause, each.allocations) for each in document().processes] == [
        ("start", 200),
        ("fork", 500),
    ]
    alone = ("--allocations=499", "--no-follow-children")
    assert heapwright("limit", *alone, "--", program, "0", "fork").status == 0


def test_the_processes_of_a_shell_are_judged(
    native: Path, heapwright: Heapwright, program: Path
) -> None:
    assert native.exists()
    done = heapwright("limit", "--leaks=0", "--", "sh", "-c", f"{program} 2; :")
    assert done.status == 1
    assert "leaks: exceeded, 2 blocks" in done.err
    assert "(program, pid " in done.err


@pytest.mark.parametrize(("end", "status"), [("fail", 7), ("crash", 134), ("kill", 137)])
def test_the_status_of_a_command_that_fails_is_its_own(
    native: Path, heapwright: Heapwright, program: Path, end: str, status: int
) -> None:
    assert native.exists()
    done = heapwright("limit", "--allocations=9", "--json=L", "--", program, "0", end)
    assert done.status == status
    assert "allocations: exceeded, 200 allocations" in done.err
    last = {7: "the command exited with status 7", 134: "the command was ended by SIGABRT"}
    assert done.err.splitlines()[-1] == last.get(status, "the command was ended by SIGKILL")
    assert (document().exit_status, document().within) == (status, False)


def test_the_failure_of_the_command_is_the_last_line(
    native: Path, heapwright: Heapwright, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert native.exists()
    monkeypatch.setenv("PYTHONMALLOC", "pymalloc")  # has a note
    for options in (("--peak=1G",), ("--peak=1G", "-q")):
        words = (*options, "--", sys.executable, "-c", "raise SystemExit(1)")
        done = heapwright("limit", *words)
        assert done.status == 1
        assert done.err.splitlines()[-1] == "the command exited with status 1"
    assert len(done.err.splitlines()) == 1


def test_leaks_of_a_killed_process_are_unknown(
    native: Path, heapwright: Heapwright, program: Path
) -> None:
    assert native.exists()
    killed = f"{program} 0 kill; exit 0"
    done = heapwright("limit", "--leaks=0", "--", "sh", "-c", killed)
    assert done.status == 1
    assert "leaks: unknown, 0 blocks, at most 0 blocks: the memory of a process was not" in done.err


def test_a_command_that_runs_out_of_time_keeps_its_figures(
    native: Path, heapwright: Heapwright, worker: Path
) -> None:
    assert native.exists()
    done = heapwright("limit", "--allocations=5", "--", "timeout", "3", worker, "999", "90000")
    assert done.status == 124
    assert "allocations: exceeded, 1,000 allocations" in done.err


def test_a_function_that_nothing_defines_is_not_taken_for_one_without_allocations(
    native: Path, heapwright: Heapwright, program: Path
) -> None:
    assert native.exists()
    done = heapwright("limit", "--no-alloc-in=idel", "--", program)
    assert done.status == 1
    assert "no-alloc-in idel: unknown" in done.err
    assert "no symbol table of the command has a function of this name" in done.err


def test_no_call_site_is_too_small_to_be_seen(
    native: Path, heapwright: Heapwright, tmp_path: Path
) -> None:
    assert native.exists()
    text = """
    #include <stdlib.h>
    static void *volatile last;
    __attribute__((noinline)) void rare(void) { last = malloc(1); }
    __attribute__((noinline)) void idle(void) { last = 0; }
    __attribute__((noinline)) void split(int depth) {
        if (depth == 0) { for (int i = 0; i < 5; ++i) last = malloc(20); return; }
        split(depth - 1);
        split(depth - 1);
        last = 0;
    }
    int main(void) { rare(); idle(); split(12); return 0; }
    """
    program = compile_c(tmp_path / "split", text)
    done = heapwright("limit", "--no-alloc-in=rare", "--no-alloc-in=idle", "--", program)
    assert "no-alloc-in rare: exceeded, 1 allocation, at most 0 allocations" in done.err
    assert "no-alloc-in idle: within, 0 allocations" in done.err


def test_names_of_cpp_are_compared_without_parameters(
    native: Path, heapwright: Heapwright, tmp_path: Path
) -> None:
    assert native.exists()
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed (package g++)")
    text = """
    namespace audio { struct Filter { int* process(int); }; }
    __attribute__((noinline)) int* audio::Filter::process(int n) { return new int[n]; }
    int main(int argc, char**) { delete[] audio::Filter().process(argc); }
    """
    cpp = compile_c(tmp_path / "filter", text, "-xc++", "-lstdc++", compiler="g++")
    done = heapwright("limit", "--no-alloc-in=audio::Filter::process", "--", cpp)
    assert done.status == 1
    assert "exceeded, 1 allocation, at most 0 allocations" in done.err
    assert "audio::Filter::process(int)" in done.err


def test_without_budgets_the_figures_are_printed(
    native: Path, heapwright: Heapwright, program: Path
) -> None:
    assert native.exists()
    done = heapwright("limit", "--", program)
    assert done.status == 0
    assert "(program, pid " in done.err
    assert "195.3 KiB" in done.err


def test_the_output_of_the_command_is_not_touched(native: Path, heapwright: Heapwright) -> None:
    assert native.exists()
    assert heapwright("limit", "--peak=100M", "--", "echo", "text").out == "text\n"


def test_programs_that_no_preload_reaches_are_refused_in_words(
    native: Path, heapwright: Heapwright, tmp_path: Path
) -> None:
    assert native.exists()
    static = compile_c(tmp_path / "static", "int main(void) { return 0; }", "-static")
    done = heapwright("limit", "--peak=1M", "--", static)
    assert (done.status, "statically linked" in done.err) == (2, True)
    privileged = compile_c(tmp_path / "privileged", "int main(void) { return 0; }")
    privileged.chmod(0o4755)
    assert privileged.stat().st_mode & 0o4000
    done = heapwright("limit", "--peak=1M", "--", privileged)
    assert (done.status, "is set-user-ID" in done.err) == (2, True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--peak=abc",), "is no size"),
        (("--peak=-1",), "is no size"),
        (("--bytes=1Z",), "is no size"),
        (("--allocations=many",), "is no count"),
        (("--allocations=1.5",), "is no count"),
        (("--allocations=1e99",), "is more than"),
        (("--leaks=x",), "is no size"),
        (("--leaks=",), "is no count"),
        (("--no-alloc-in=*",), "names no function"),
    ],
)
def test_wrong_values_are_refused(
    native: Path, heapwright: Heapwright, words: tuple[str, ...], said: str
) -> None:
    assert native.exists()
    done = heapwright("limit", *words, "--", "true")
    assert done.status == 2
    text = " ".join(done.err.replace("│", " ").split())
    assert said in text
    assert words[0].partition("=")[0] in text
    assert heapwright("limit", "--peak=1M").status == 2


@pytest.mark.slow
def test_counts_of_a_program_with_one_thread_are_equal_in_100_runs(
    native: Path, heapwright: Heapwright, program: Path
) -> None:
    assert native.exists()
    seen = set()
    for _ in range(100):
        heapwright("limit", "--leaks=9", "--json=L", "--", program, "3")
        (process,) = document().processes
        assert process.leaked_blocks in (2, 3)  # a word that looks like a pointer may hide one
        without = {"pid": 0, "leaked_blocks": None, "leaked_bytes": None}
        seen.add(process.model_copy(update=without))
    assert len(seen) == 1
