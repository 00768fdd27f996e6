# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The readers under libFuzzer, for a short while, with sanitizers and little memory.

Seeds are whole files of each format; a trace also with its blocks open, for the fuzzer cannot make
checksums. For a longer run: `-max_total_time=3600` with the same program and a corpus folder.
"""

import os
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from heapwright.artefacts.trace.file import export_wl
from support.running import ran

ROOT = Path(__file__).parents[3]
COMPILERS = ("clang++-14", "clang++")
FLAGS = ["-std=c++20", "-O1", "-gline-tables-only", "-fsanitize=fuzzer,address,undefined"]
FLAGS += [f"-I{ROOT / 'native'}", f"-I{ROOT / 'include'}"]
IMPORTERS = ["import/android.cpp", "import/import.cpp", "import/mtrace.cpp"]
IMPORTERS += ["import/mtrace_text.cpp", "import/wl.cpp"]
RUNS = 20_000
SECONDS = 30
MEGABYTES = 512
QUARANTINE = "quarantine_size_mb=16"
"""What AddressSanitizer keeps of freed memory counts, too, and is not the readers'."""
LONGEST = 20_000
OPEN = 1
BY_A_SHELL = ["sh", "-c", '"$@"; exit $?', "sh"]
"""A peak of resident memory is handed down to whoever is executed: so not by this process."""


@pytest.fixture(scope="module")
def compiler() -> str:
    """A skip where there is none."""
    found = next((found for name in COMPILERS if (found := shutil.which(name))), None)
    return found or pytest.skip("no clang++, so the readers are not fuzzed (package clang-14)")


@pytest.fixture(scope="module")
def readers(compiler: str, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The objects of the readers, which are in both fuzzers."""
    folder = tmp_path_factory.mktemp("readers")
    sources = sorted((ROOT / "native" / "trace").glob("*.cpp"))
    done = ran([compiler, *FLAGS, "-c", *sources], cwd=folder)
    assert done.returncode == 0, done.stderr
    return sorted(folder.glob("*.o"))


def build(compiler: str, readers: list[Path], folder: Path, target: str, *more: Path) -> Path:
    """The fuzzer, or a skip where the compiler has no libFuzzer."""
    program = folder / target
    source = ROOT / "tests" / "native" / "trace" / "fuzz" / f"{target}.cpp"
    done = ran([compiler, *FLAGS, source, *readers, *more, "-o", program])
    if "libclang_rt.fuzzer" in done.stderr:
        pytest.skip(f"{compiler} has no libFuzzer: the readers are not fuzzed")
    assert done.returncode == 0, done.stderr
    return program


def fuzz(program: Path, seeds: Path) -> str:
    corpus = seeds.parent / "corpus"
    corpus.mkdir()
    limits = [f"-runs={RUNS}", f"-max_total_time={SECONDS}", f"-rss_limit_mb={MEGABYTES}"]
    words = [str(program), "-seed=1", f"-max_len={LONGEST}", "-timeout=10", *limits]
    done = subprocess.run(
        [*BY_A_SHELL, *words, str(corpus), str(seeds)],
        cwd=seeds.parent,
        env={**os.environ, "ASAN_OPTIONS": QUARANTINE},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stderr


@pytest.mark.compiles
def test_any_bytes_as_a_trace(
    compiler: str, readers: list[Path], tmp_path: Path, trace: Path
) -> None:
    program = build(compiler, readers, tmp_path, "trace_fuzz")
    seeds = tmp_path / "seeds"
    seeds.mkdir()
    data = bytearray(trace.read_bytes())
    (seeds / "sealed").write_bytes(data)
    for block in range(4096, len(data), 4096):
        if data[block : block + 4] == b"HWBK":
            data[block + 6] = OPEN
    (seeds / "open").write_bytes(data)
    assert "Done " in fuzz(program, seeds)


@pytest.mark.compiles
def test_any_bytes_as_another_format(
    compiler: str, readers: list[Path], tmp_path: Path, trace: Path
) -> None:
    parts = [ROOT / "native" / "trace" / "program" / name for name in IMPORTERS]
    program = build(compiler, readers, tmp_path, "import_fuzz", *parts)
    seeds = tmp_path / "seeds"
    seeds.mkdir()
    export_wl(trace, tmp_path / "calls.wl")
    magic = struct.pack("<iIQQQQQQQ", 0, 255, 0x1234, 0, 8, 0, 0, 0, 0)
    call = struct.pack("<iIQQQQQQQ", 7, 4, 0x1000, 0x2000, 24, 0, 0, 0, 0)
    (seeds / "wl").write_bytes(b"\x00" + (tmp_path / "calls.wl").read_bytes())
    (seeds / "mtrace").write_bytes(b"\x01" + magic + call)
    log = b"= Start\n@ ./a:(f+0x1)[0x11] + 0x10 0x20\n@ ./a:[0x1] < 0x10\n"
    log += b"@ ./a:[0x1] > 0x30 0x40\n@ ./a:[0x1] ! 0x30 0x50\n@ ./a:[0x1] - 0x30\n= End\n"
    (seeds / "mtrace-text").write_bytes(b"\x03" + log)
    (seeds / "android").write_bytes(b"\x02" + trace.with_name("calls.txt").read_bytes())
    assert "Done " in fuzz(program, seeds)
