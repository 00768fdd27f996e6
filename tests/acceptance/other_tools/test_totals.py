# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Files that other tools wrote have the totals that these tools print.

One program runs under each tool. The totals of its file are compared with those of the tool's own
report, and the largest holder is the function that kept most memory.
"""

import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from heapwright.artefacts.stacks.profile import Amount, StackProfile
from heapwright.profile.stacks import read_named_stacks
from heapwright.report.stacks.holders import holders
from support.running import ran

pytestmark = pytest.mark.programs

PROGRAM = """
#include <stdlib.h>
#include <string.h>
static void *kept[400];
__attribute__((noinline)) void *grab(size_t n) { return memset(malloc(n), 1, n); }
__attribute__((noinline)) void *hold(int i) { return grab(3000 + (size_t)i); }
__attribute__((noinline)) void *pass(int i) { return grab(20 + (size_t)i % 50); }
int main(void) {
    for (int i = 0; i < 400; ++i) {
        kept[i] = hold(i);
        free(pass(i));
    }
    for (int i = 0; i < 300; ++i) free(kept[i]);
    kept[0] = pass(7);
    return 0;
}
"""
HELD = sum(3000 + i for i in range(400))
GO = """
package main

import (
	"os"
	"runtime"
	"runtime/pprof"
)

var kept [][]byte

//go:noinline
func hold(n int) []byte { return make([]byte, n) }

func main() {
	runtime.MemProfileRate = 4096
	for i := 0; i < 2000; i++ {
		kept = append(kept, hold(1000+i))
	}
	kept = kept[:1000]
	runtime.GC()
	file, _ := os.Create(os.Args[1])
	pprof.Lookup("heap").WriteTo(file, 0)
	file.Close()
}
"""


def needed(program: str, package: str) -> str:
    return shutil.which(program) or pytest.skip(f"no {program} (package {package})")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("program") / "program"
    made.with_suffix(".c").write_text(PROGRAM)
    compiler = needed("cc", "gcc")
    done = ran([compiler, "-g", "-O1", "-fno-builtin", "-o", made, made.with_suffix(".c")])
    assert done.returncode == 0, done.stderr
    return made


@dataclass(frozen=True, slots=True)
class Tool:
    """Runs commands in one folder."""

    folder: Path

    def run(self, *command: str | Path, **variables: str) -> str:
        """What a command prints."""
        environment: Mapping[str, str] = {**os.environ, **variables}
        done = ran(list(command), cwd=self.folder, env=environment, timeout=300)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def file(self, pattern: str) -> Path:
        """The last of the files that a tool wrote."""
        return max(self.folder.glob(pattern))


@pytest.fixture
def tool(tmp_path: Path) -> Tool:
    return Tool(tmp_path)


def first_number(pattern: str, text: str) -> float:
    found = re.search(pattern, text)
    assert found is not None, text
    return float(found[1].replace(",", ""))


def is_held_by(found: StackProfile, amount: Amount) -> bool:
    """Whether the largest holder is `grab` in `hold`."""
    largest = holders(found, amount)[0]
    functions = [each.partition(" ")[0] for each in largest.own]
    return functions[:3] == ["grab", "hold", "main"]


def test_massif(program: Path, tool: Tool) -> None:
    needed("valgrind", "valgrind")
    tool.run("valgrind", "--tool=massif", "--massif-out-file=out", program)
    found = read_named_stacks(tool.folder / "out")
    report = tool.run("ms_print", "out")
    peak = int(first_number(r"(\d+) \(peak\)", report))
    useful = first_number(rf"(?m)^ *{peak} +[\d,]+ +[\d,]+ +([\d,]+) ", report)
    assert found.total(Amount.AT_PEAK_BYTES) == useful
    assert useful >= HELD
    assert is_held_by(found, Amount.AT_PEAK_BYTES)


def test_heaptrack(program: Path, tool: Tool) -> None:
    needed("zstd", "zstd")
    tool.run(needed("heaptrack", "heaptrack"), "-o", "out", program)
    file = tool.file("out*")
    report = tool.run("heaptrack_print", file)
    found = read_named_stacks(file)
    calls = first_number(r"calls to allocation functions: (\d+)", report)
    assert found.total(Amount.ALLOCATIONS) == calls
    for words, amount in (
        ("peak heap memory consumption", Amount.AT_PEAK_BYTES),
        ("total memory leaked", Amount.KEPT_BYTES),
    ):
        printed = re.search(rf"{words}: ([\d.]+)([BKMG])", report)
        assert printed is not None
        unit = {"B": 1, "K": 1e3, "M": 1e6, "G": 1e9}[printed[2]]
        assert f"{found.total(amount) / unit:.2f}" == f"{float(printed[1]):.2f}"
    assert is_held_by(found, Amount.AT_PEAK_BYTES)


def test_a_raw_recording_of_heaptrack_is_as_its_interpretation(program: Path, tool: Tool) -> None:
    zstd = needed("zstd", "zstd")
    tool.run(needed("heaptrack", "heaptrack"), "--raw", "-o", "out", program)
    raw = read_named_stacks(tool.file("out*"))
    interpret = "/usr/lib/heaptrack/libexec/heaptrack_interpret"
    tool.run("sh", "-c", f"{zstd} -dc {tool.file('out*')} | {interpret} > text")
    found = read_named_stacks(tool.folder / "text")
    assert [raw.total(each) for each in Amount] == [found.total(each) for each in Amount]
    for amount in (Amount.AT_PEAK_BYTES, Amount.KEPT_BYTES, Amount.BYTES):
        one, other = (
            [(each.bytes, each.blocks) for each in holders(profile, amount)]
            for profile in (raw, found)
        )
        assert one == other
        assert is_held_by(raw, amount)


@pytest.mark.parametrize(("option", "amount"), [("", "inuse"), ("--alloc_space", "alloc")])
def test_heap_profiler_of_tcmalloc(option: str, amount: str, program: Path, tool: Tool) -> None:
    pprof = needed("google-pprof", "google-perftools")
    library = next(iter(sorted(Path("/usr/lib").glob("*/libtcmalloc.so.4"))), None)
    if library is None:
        pytest.skip("no libtcmalloc.so.4 (package libgoogle-perftools4)")
    tool.run(program, LD_PRELOAD=str(library), HEAPPROFILE=str(tool.folder / "out"))
    file = tool.file("out.*.heap")
    report = tool.run(pprof, "--text", "--show_bytes", *filter(None, [option]), program, file)
    found = read_named_stacks(file)
    which = Amount.BYTES if amount == "alloc" else Amount.KEPT_BYTES
    assert found.total(which) == first_number(r"Total: (\d+) B", report)
    assert is_held_by(found, which)


def test_sampled_profiles_of_jemalloc(program: Path, tool: Tool) -> None:
    jeprof = needed("jeprof", "libjemalloc-dev")
    library = next(iter(sorted(Path("/usr/lib").glob("*/libjemalloc.so.2"))), None)
    if library is None:
        pytest.skip("no libjemalloc.so.2 (package libjemalloc2)")
    settings = "prof:true,prof_final:true,prof_accum:true,lg_prof_sample:13,prof_prefix:out"
    tool.run(program, LD_PRELOAD=str(library), MALLOC_CONF=settings)
    file = tool.file("out.*.heap")
    found = read_named_stacks(file)
    assert "8,192" in found.sampling
    for option, amount in (("", Amount.KEPT_BYTES), ("--alloc_space", Amount.BYTES)):
        report = tool.run(jeprof, "--text", "--show_bytes", *filter(None, [option]), program, file)
        # jeprof adds fractions up in the order of a hash.
        assert found.total(amount) == pytest.approx(first_number(r"Total: (\d+) B", report), abs=1)
    assert is_held_by(found, Amount.BYTES)


@pytest.mark.slow  # newer releases of Go compile pprof at its first use
def test_heap_profiles_of_go(tool: Tool) -> None:
    go = needed("go", "golang-go")
    (tool.folder / "main.go").write_text(GO)
    tool.run(go, "build", "-o", "main", "main.go", GO111MODULE="off")
    tool.run("./main", "out.pb.gz")
    found = read_named_stacks(tool.folder / "out.pb.gz")
    for index, amount in (
        ("inuse_space", Amount.KEPT_BYTES),
        ("inuse_objects", Amount.KEPT),
        ("alloc_space", Amount.BYTES),
        ("alloc_objects", Amount.ALLOCATIONS),
    ):
        report = tool.run(
            go, "tool", "pprof", "-top", "-unit=bytes", f"-sample_index={index}", "out.pb.gz"
        )
        assert found.total(amount) == first_number(r"% of (\d+)(?:bytes|B)? total", report)
    assert holders(found, Amount.KEPT_BYTES)[0].place.startswith("main.hold")
