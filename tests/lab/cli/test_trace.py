# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright trace`, `export` and `import`: what they print, and how they leave."""

import json
import subprocess
from io import StringIO
from pathlib import Path

import polars as pl
import pytest
from rich.console import Console

from heapwright.artefacts.trace.file import check_trace
from heapwright.artefacts.trace.frame import open_trace
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.base.native import program
from heapwright.report.trace import print_check

from .tools import Heapwright, compile_c

CALLS = "7: malloc 0x10 100\n8: realloc 0x20 0x10 300\n8: free 0x20\n7: free 0x0\n8: free 0x99\n"
TRACED = """
#include <mcheck.h>
#include <stdlib.h>
int main(void) {
    void *before = malloc(8);
    mtrace();
    void *first = malloc(100);
    void *second = calloc(70, 10);
    first = realloc(first, 300);
    void *third = NULL;
    if (posix_memalign(&third, 64, 4096) != 0) return 1;
    free(second);
    free(before);
    muntrace();
    free(first);
    return third == NULL;
}
"""
"""Before mtrace() and after muntrace() nothing is in the log."""
KEEPS = "#include <stdlib.h>\nint main(void) { return malloc(4321) == NULL; }\n"


@pytest.fixture
def trace(tmp_path: Path, heapwright: Heapwright) -> Path:
    try:
        program("trace")
    except HeapwrightError as error:
        pytest.skip(f"{error.message}: {error.hint}")
    (tmp_path / "calls.txt").write_text(CALLS)
    done = heapwright("import", "calls.txt", "-o", "calls.trace")
    assert (done.status, done.out) == (0, "calls.trace: 5 events of 2 threads\n")
    return tmp_path / "calls.trace"


def test_info(trace: Path, heapwright: Heapwright) -> None:
    done = heapwright("trace", "info", trace)
    assert done.status == 0
    assert "5 of 2 threads" in done.out
    assert "imported" in done.out
    document = json.loads(heapwright("trace", "info", "--json", trace).out)
    assert document["events"] == 5
    assert document["imported"]


def test_check_accepts_a_whole_trace(trace: Path, heapwright: Heapwright) -> None:
    done = heapwright("trace", "check", trace)
    assert done.status == 0
    assert "all of it can be read; 5 events" in done.out


def test_check_of_a_damaged_one(trace: Path, heapwright: Heapwright) -> None:
    data = bytearray(trace.read_bytes())
    hurt = data.index(b"HWBK\x01", 4096)
    data[hurt + 70] ^= 2
    trace.write_bytes(data)
    done = heapwright("trace", "check", trace)
    assert done.status == 1
    assert f"byte {hurt:,}: a block does not match its checksum" in done.out
    faults = json.loads(heapwright("trace", "check", "--json", trace).out)["faults"]
    assert faults == [{"offset": hurt, "what": "a block does not match its checksum"}]


def test_files_that_are_no_traces(trace: Path, heapwright: Heapwright) -> None:
    done = heapwright("trace", "info", trace.with_suffix(".txt"))
    assert done.status == 2
    assert "no trace of Heapwright, at byte 0" in done.err
    assert "Traceback" not in done.err


def test_export(trace: Path, heapwright: Heapwright) -> None:
    done = heapwright("export", "--parquet", "calls.parquet", "--wl", "calls.wl", trace)
    assert done.status == 0
    assert "calls.wl: frees of addresses that the trace never allocated, left out: 1\n" in done.err
    table = pl.read_parquet(trace.with_suffix(".parquet"))
    assert table["routine"].to_list() == ["malloc", "realloc", "free", "free", "free"]
    assert heapwright("import", "calls.wl", "-o", "back.trace").out.startswith(
        "back.trace: 4 events of 2 threads"
    )


def test_call_sites_of_a_trace_without_stacks_are_refused(
    trace: Path, heapwright: Heapwright, tmp_path: Path
) -> None:
    for option in ("--pprof", "--folded"):
        done = heapwright("export", option, "calls.out", trace)
        assert done.status == ExitCode.BAD_INPUT
        assert "calls.trace has no call stacks" in done.err
        assert "--stacks" in done.err
    assert not (tmp_path / "calls.out").exists()


def test_call_sites_of_a_profile_are_exported(heapwright: Heapwright, tmp_path: Path) -> None:
    program_file = compile_c(tmp_path / "program", KEEPS)
    made = heapwright("profile", "-q", "--stacks", "--json", "p.json", "--", program_file)
    assert made.status == 0
    done = heapwright("export", "--folded", "-", "--measure", "peak", "p.json")
    assert done.status == 0
    assert [line for line in done.out.splitlines() if line.endswith(" 4321")]
    assert heapwright("export", "--pprof", "p.pb.gz", "p.json").status == 0
    assert (tmp_path / "p.pb.gz").read_bytes().startswith(b"\x1f\x8b")


def test_missing_data_of_an_export_is_reported(trace: Path, heapwright: Heapwright) -> None:
    data = bytearray(trace.read_bytes())
    data[data.index(b"HWBK\x01", 4096) + 70] ^= 2
    trace.write_bytes(data)
    done = heapwright("export", "--parquet", "calls.parquet", "--wl", "calls.wl", trace)
    assert done.status == 0
    for name in ("calls.parquet", "calls.wl"):
        assert f"{name}: pieces of the trace that could not be read" in done.err


def test_an_export_to_standard_output(trace: Path, heapwright: Heapwright) -> None:
    heapwright("export", "--wl", "calls.wl", trace)
    done = heapwright("export", "--wl", "-", trace)
    assert done.status == 0
    written = trace.with_suffix(".wl").read_bytes().replace(b"\r", b"\n")
    assert done.out == written.decode("utf-8", "replace")
    assert not trace.with_name("-").exists()


@pytest.mark.parametrize("option", ["--parquet", "--wl"])
def test_an_export_that_cannot_be_written(trace: Path, heapwright: Heapwright, option: str) -> None:
    done = heapwright("export", option, "/dev/full", trace)
    assert done.status == 3
    assert f"{option} /dev/full could not be written: No space left on device" in done.err
    before = trace.read_bytes()
    done = heapwright("export", option, trace, trace)
    assert done.status == 2
    assert "is what is to be read" in done.err
    assert trace.read_bytes() == before
    assert not list(trace.parent.glob(".*.tmp"))


def test_refusals(trace: Path, heapwright: Heapwright) -> None:
    assert "no output is named" in heapwright("export", trace).err
    assert "does not say what format" in heapwright("import", "x.dat", "-o", "y").err
    done = heapwright("import", "--format", "wl", "calls.txt", "-o", "other.trace")
    assert done.status == 2
    assert "at byte 0" in done.err
    trace.with_name("log").write_text("= Start\n", encoding="utf-8")
    for other in ("wl", "android"):
        done = heapwright("import", "--format", other, "log", "-o", "other.trace")
        assert done.status == 2
        assert "log is a text log of mtrace()\n  leave out --format" in done.err
    assert not trace.with_name("other.trace").exists()


def test_a_block_without_a_checksum_is_named(trace: Path, heapwright: Heapwright) -> None:
    out = StringIO()
    print_check(Console(file=out, width=200), trace, check_trace(trace), 2)
    assert "2 blocks of events ended without a checksum" in out.getvalue()
    assert "without a checksum" not in heapwright("trace", "check", trace).out


@pytest.mark.usefixtures("native")
def test_the_log_that_glibcs_mtrace_wrote_is_read(heapwright: Heapwright, tmp_path: Path) -> None:
    """The C library's own library for debugging writes the log of a program in C."""
    program = compile_c(tmp_path / "traced", TRACED)
    log = tmp_path / "mt.log"
    environment = {"LD_PRELOAD": "libc_malloc_debug.so.0", "MALLOC_TRACE": str(log)}
    subprocess.run([program], env=environment, check=True, timeout=60)
    done = heapwright("import", "mt.log", "-o", "mt.trace")
    assert done.status == 0, done.err
    assert "6 events of 1 thread" in done.out
    assert "frees of blocks that the log does not allocate: 1" in done.err
    events = open_trace(tmp_path / "mt.trace").select("routine", "size").collect().rows()
    assert events == [
        ("malloc", 100),
        ("malloc", 700),
        ("realloc", 300),
        ("malloc", 4096),
        ("free", 0),
        ("free", 0),
    ]
    named = heapwright("import", "mt.log", "--format", "mtrace", "-o", "mt2.trace")
    assert named.status == 0, "both formats have this name"


@pytest.mark.parametrize(("group", "name"), [("trace", "info, check"), ("study", "run, resume")])
def test_a_file_in_place_of_a_name_is_answered_with_the_names(
    group: str, name: str, heapwright: Heapwright, tmp_path: Path
) -> None:
    (tmp_path / "mine").touch()
    done = heapwright(group, "mine")
    assert done.status == ExitCode.BAD_INPUT
    assert "mine is a file, and one of these names stands before it" in done.err
    assert name in done.err
    assert f"{group} NAME mine" in done.err
