# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright record` on the command line."""

import shutil
import sys
from pathlib import Path

import pytest

from heapwright.artefacts.explanation.document import Explanation
from heapwright.artefacts.profile.document import Profile
from heapwright.artefacts.run.coverage import Cause
from heapwright.artefacts.trace.file import trace_info
from heapwright.base.errors import HeapwrightError
from heapwright.cli.record import parse_signal
from heapwright.commands.record import notes_on
from heapwright.profile.run import profile_trace
from heapwright.record.recorder import Outcome
from support.documents import made

from .tools import Heapwright, compile_c

FINE = made(Outcome, seconds=1.0, events=10, bytes=100, threads=1, processes=1)


def test_one_line_at_the_end(native: Path, heapwright: Heapwright, worker: Path) -> None:
    assert native.exists()
    done = heapwright("record", "-o", "T", "--", worker, "1000")
    assert done.status == 0
    line, following = done.err.splitlines()
    assert following.startswith("next: heapwright explain ")
    assert line.startswith("heapwright: 2,00")
    assert "1 thread in 1 process" in line
    assert line.endswith(": T")
    assert done.out == ""
    assert trace_info(Path("T")).events >= 2002


def test_the_trace_is_named_after_the_command(
    native: Path, heapwright: Heapwright, worker: Path
) -> None:
    assert native.exists()
    assert heapwright("record", "-q", "--", worker, "10").err == ""
    assert Path("worker.trace").exists()


def test_the_status_is_the_commands_and_said(native: Path, heapwright: Heapwright) -> None:
    assert native.exists()
    done = heapwright("record", "-o", "T", "--", "sh", "-c", "exit 9")
    assert done.status == 9
    assert "exited with status 9" in done.err
    done = heapwright("record", "-o", "T", "--", "sh", "-c", "kill -KILL $$")
    assert done.status == 137
    assert "ended by SIGKILL" in done.err


def test_omitted_child_processes_are_reported(
    native: Path, heapwright: Heapwright, worker: Path
) -> None:
    assert native.exists()
    done = heapwright("record", "-o", "T", "--", "sh", "-c", f"{worker} 10; {worker} 10; :")
    assert "2 processes that it started were not recorded; --follow-children" in done.err
    done = heapwright(
        "record", "-o", "T", "--follow-children", "--", "sh", "-c", f"{worker} 10; {worker} 10; :"
    )
    assert "follow-children" not in done.err
    processes = trace_info(Path("T")).processes
    assert len(processes) >= 3
    assert f"{len(processes)} processes are counted together" in heapwright("profile", "T").out
    last = processes[-1]
    assert last.arguments == (str(worker), "10")
    alone = heapwright("profile", "--process", str(last.process), "T").out
    assert f"This is process {last.process}, one of {len(processes)} in the trace" in alone
    assert alone.splitlines()[0].endswith(f": {worker} 10")


def test_resident_and_live_memory_of_one_process_are_joined(
    native: Path, heapwright: Heapwright, worker: Path
) -> None:
    assert native.exists()
    both = f"{worker} 100000 100 & {worker} 20000 400; wait"
    heapwright("record", "-o", "T", "--follow-children", "--", "sh", "-c", both)
    together = profile_trace(Path("T"))
    busiest = max(together.provenance.processes, key=lambda each: each.events)
    alone = profile_trace(Path("T"), busiest.process)
    assert together.system is not None
    assert alone.system is not None
    assert together.system.samples == alone.system.samples
    assert together.peak_live_bytes > alone.peak_live_bytes


def test_a_static_program_is_refused_in_words(
    native: Path, heapwright: Heapwright, tmp_path: Path
) -> None:
    assert native.exists()
    program = compile_c(tmp_path / "static", "int main(void) { return 0; }", "-static")
    done = heapwright("record", "-o", "T", "--", program)
    assert done.status == 2
    assert "statically linked" in done.err
    assert not Path("T").exists()


def test_refusals(native: Path, heapwright: Heapwright) -> None:
    assert native.exists()
    assert "command not found" in heapwright("record", "--", "no-such-program").err
    Path("letter").write_text("dear all")
    refused = heapwright("record", "-o", "letter", "--", "true")
    assert refused.status == 2
    assert "it is no trace" in refused.err
    assert heapwright("record").status == 2
    assert heapwright("record", "--sample", "0", "--", "true").status == 2
    assert heapwright("record", "--limit", "much", "--", "true").status == 2


def test_an_empty_sample_is_not_called_an_empty_program(
    native: Path, heapwright: Heapwright, worker: Path
) -> None:
    assert native.exists()
    done = heapwright("record", "-o", "T", "--sample", "4294967294", "--", worker, "10")
    assert "no sample was taken. One block in 4,294,967,294 is recorded" in done.err
    assert "asked malloc for nothing" not in done.err


def test_paused_records_nothing_and_reports_it(
    native: Path, heapwright: Heapwright, worker: Path
) -> None:
    assert native.exists()
    done = heapwright("record", "-o", "T", "--paused", "--", worker, "10")
    assert "the trace is empty: the command asked malloc for nothing while recording was on" in (
        done.err
    )


def test_a_command_without_allocations_leaves_an_empty_trace_and_a_note(
    native: Path, heapwright: Heapwright
) -> None:
    assert native.exists()
    compile_c(Path("idle"), "int main(void) { return 0; }\n")
    done = heapwright("record", "-q", "-o", "T", "--", "./idle")
    assert done.status == 0
    assert "the trace is empty: the command asked malloc for nothing" in done.err


OWN_MALLOC = """
#include <stddef.h>
#include <string.h>
static char pool[64 << 20];
static size_t used;
void* malloc(size_t size) { void* at = pool + used; used += (size + 15) & ~15ul; return at; }
void free(void* block) { (void)block; }
void* calloc(size_t count, size_t size) { return malloc(count * size); }
void* realloc(void* block, size_t size) {
    void* moved = malloc(size);
    if (block) memcpy(moved, block, size);
    return moved;
}
int main(void) {
    for (int i = 0; i < 40000; i++) memset(malloc(1000), 1, 1000);
    volatile long sum = 0;
    for (long i = 0; i < 60000000; i++) sum += i;
    return 0;
}
"""
STATIC = """
#include <stdlib.h>
#include <string.h>
int main(void) {
    for (int i = 0; i < 40; i++) memset(malloc(1000), 1, 1000);
    volatile long sum = 0;
    for (long i = 0; i < 400000000; i++) sum += i;
    return 0;
}
"""


def test_a_malloc_of_the_program_is_reported_and_in_the_documents(
    native: Path, heapwright: Heapwright
) -> None:
    assert native.exists()
    compile_c(Path("own"), OWN_MALLOC)
    done = heapwright("record", "-o", "T", "--", "./own")
    assert "the trace is empty: own provides its own malloc" in done.err
    done = heapwright("profile", "T", "--json", "P")
    assert "100.0% of the processor time was not recorded: own provides its own malloc" in done.out
    coverage = Profile.from_json(Path("P").read_bytes()).coverage
    assert coverage is not None
    assert not coverage.is_complete
    (process,) = coverage.processes
    assert (process.name, process.recorded, process.cause) == ("own", False, Cause.OWN_MALLOC)
    assert process.peak_resident_bytes is not None
    heapwright("explain", "T", "--json", "E")
    explained = Explanation.from_json(Path("E").read_bytes()).coverage
    assert explained == coverage


def test_processes_without_the_preloaded_library_are_reported(
    native: Path, heapwright: Heapwright
) -> None:
    assert native.exists()
    compile_c(Path("fixed"), STATIC, "-static")
    done = heapwright("record", "--follow-children", "-o", "T", "--", "sh", "-c", "./fixed; :")
    assert "of the processor time was not recorded: fixed is statically linked" in done.err
    assert trace_info(Path("T")).fault_count == 0


def test_unrecorded_child_processes_that_did_the_work_are_reported(
    native: Path, heapwright: Heapwright
) -> None:
    assert native.exists()
    compile_c(Path("child"), STATIC)
    told = "child is a child process, and --follow-children was not given"
    done = heapwright("record", "-o", "T", "--", "sh", "-c", "./child; :")
    assert told in done.err
    done = heapwright("record", "--follow-children", "-o", "T", "--", "sh", "-c", "./child; :")
    assert told not in done.err
    accounts = trace_info(Path("T")).accounts
    assert accounts is not None
    assert {Path(each.executable).name for each in accounts.processes if each.recorded} >= {"child"}


def test_a_runtime_with_its_own_heap_is_reported_unless_it_calls_malloc(
    native: Path, heapwright: Heapwright, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert native.exists()
    python = str(Path(sys.executable).resolve())
    monkeypatch.delenv("PYTHONMALLOC", raising=False)
    done = heapwright("record", "-o", "T", "--", python, "-c", "pass")
    assert "keeps objects in a heap of CPython" in done.err
    assert "PYTHONMALLOC=malloc" in done.err
    monkeypatch.setenv("PYTHONMALLOC", "malloc")
    done = heapwright("record", "-o", "T", "--", python, "-c", "pass")
    assert "heap of CPython" not in done.err


def test_a_limit_that_leaves_nothing_is_no_program_without_calls(
    native: Path, heapwright: Heapwright, worker: Path
) -> None:
    assert native.exists()
    done = heapwright("record", "-o", "T", "--limit", "4K", "--", worker, "100")
    assert "the trace is empty: recording stopped before the first call" in done.err
    assert "asked malloc for nothing" not in done.err
    assert "next: heapwright record -o T -- " in done.err
    assert "heapwright explain" not in done.err


def test_the_limit(native: Path, heapwright: Heapwright, worker: Path) -> None:
    assert native.exists()
    done = heapwright("record", "-o", "T", "--limit", "128K", "--", worker, "200000")
    assert done.status == 0
    assert "the trace had come to its limit; the command continued" in done.err
    assert Path("T").stat().st_size <= 128 << 10
    told = heapwright("profile", "T").out
    assert "Recording stopped early: the trace had come to its limit; what came later" in told


def test_notes_for_the_reader() -> None:
    assert list(notes_on(FINE)) == []
    odd = FINE.model_copy(update={"stop": "disk-full", "lost": 3, "unfollowed": 1, "signal": 11})
    text = "\n".join(notes_on(odd))
    assert "SIGSEGV" in text
    assert "the disk was full" in text
    assert "3 calls were lost" in text
    assert "1 process that it started was not recorded" in text
    one = "\n".join(notes_on(FINE.model_copy(update={"lost": 1, "unfollowed": 2})))
    assert "1 call was lost" in one
    assert "2 processes that it started were not recorded" in one
    assert "not loaded" in "".join(notes_on(FINE.model_copy(update={"processes": 0})))


@pytest.mark.parametrize(("text", "number"), [("USR2", 12), ("sigusr1", 10), ("34", 34)])
def test_signals(text: str, number: int) -> None:
    assert parse_signal(text) == number


@pytest.mark.parametrize("text", ["KILL", "9", "STOP", "0", "-1", "999", "10000000000", "USR3", ""])
def test_no_signals(text: str) -> None:
    with pytest.raises(HeapwrightError, match="no signal"):
        parse_signal(text)


def test_the_program_keeps_its_own_preload(
    native: Path, heapwright: Heapwright, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = native / "lib" / "libheapwright-kingsley.so"
    shell = shutil.which("sh")
    assert shell is not None
    monkeypatch.setenv("LD_PRELOAD", str(library))
    done = heapwright(
        "record",
        "-o",
        "T",
        "--",
        shell,
        "-c",
        "while read -r line; do echo $line; done < /proc/self/maps | grep -c kingsley; :",
    )
    assert int(done.out) > 0
