# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright top --by-site` shows the holders of memory in a process under the sampler."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from io import StringIO
from pathlib import Path

import pytest

from heapwright.artefacts.stacks.profile import Bounds
from heapwright.base import native
from heapwright.report.console import make_console
from heapwright.report.top import Screen, SiteLine, drawn, line

PROGRAM = """
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) void* keep(void) { return malloc(1000); }
__attribute__((noinline)) void* waste(void) { return malloc(500); }
void* volatile last;
int main(int count, char** words) {
    if (count > 1) signal(SIGUSR2, SIG_DFL);
    for (int i = 0; i < 8000; i++) {
        last = keep();
        free(waste());
    }
    puts("ready");
    fflush(stdout);
    return getchar();
}
"""
KEPT = 8000 * 1000
TOP = (sys.executable, "-m", "heapwright", "top")
Start = Callable[..., AbstractContextManager["subprocess.Popen[str]"]]


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("gcc") or pytest.skip("needs a C compiler (package gcc)")
    folder = tmp_path_factory.mktemp("sites")
    (folder / "sites.c").write_text(PROGRAM, encoding="utf-8")
    command = [compiler, "-g", "-O1", "-fno-builtin", "sites.c", "-o", "sites"]
    subprocess.run(command, cwd=folder, check=True)
    return folder / "sites"


@pytest.fixture
def start(program: Path, tmp_path: Path) -> Start:
    """Starts the program under the sampler. The same samples in each run."""

    @contextmanager
    def started(*words: str, **settings: str) -> Iterator["subprocess.Popen[str]"]:
        with subprocess.Popen(
            [program, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env={
                **os.environ,
                "LD_PRELOAD": str(native.library("sampler")),
                "HEAPWRIGHT_SAMPLE": "4K",
                "HEAPWRIGHT_SAMPLE_SEED": "1",
                **settings,
            },
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            try:
                yield process
            finally:
                process.kill()

    return started


def by_site(pid: int) -> "subprocess.CompletedProcess[str]":
    command = [*TOP, "--once", "--by-site", str(pid)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def kib(amount: str, unit: str) -> float:
    return float(amount) * {"B": 1 / 1024, "KiB": 1, "MiB": 1024}[unit]


def test_the_holder_of_memory_is_named_and_its_interval_contains_the_truth(
    start: Start, tmp_path: Path
) -> None:
    with start(HEAPWRIGHT_SAMPLE_SIGNAL="USR2", HEAPWRIGHT_SAMPLE_FILE="of") as process:
        done = by_site(process.pid)
        assert done.returncode == 0
        assert process.poll() is None
    rows = [each for each in done.stdout.splitlines() if "←" in each]
    assert "keep (sites.c:" in rows[0]
    assert "← main (sites.c:" in rows[0]
    assert "waste" not in done.stdout, "its blocks are freed"
    amounts = [kib(*each) for each in re.findall(r"([\d.]+) (B|KiB|MiB)", rows[0])]
    assert amounts[1] <= KEPT / 1024 <= amounts[2]
    assert list(tmp_path.iterdir()) == [], "requested documents are removed"


def test_a_process_without_the_sampler_is_refused(program: Path) -> None:
    with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        done = by_site(process.pid)
        process.kill()
    assert done.returncode == 2
    assert "is not under the sampler" in done.stderr
    assert f"heapwright attach --stacks {process.pid}" in done.stderr


def test_a_signal_that_would_end_the_process_is_not_sent(start: Start) -> None:
    with start("default", HEAPWRIGHT_SAMPLE_SIGNAL="USR2") as process:
        done = by_site(process.pid)
        assert done.returncode == 0
        assert process.poll() is None
    assert "the sampler writes by itself" in " ".join(done.stdout.split())


def test_documents_that_exist_are_shown_and_kept_without_a_signal(
    start: Start, tmp_path: Path
) -> None:
    with start(HEAPWRIGHT_SAMPLE_THRESHOLD="1M") as process:
        before = set(tmp_path.iterdir())
        done = by_site(process.pid)
        assert set(tmp_path.iterdir()) == before
    assert before
    assert "keep (sites.c:" in done.stdout


def sites(width: int) -> str:
    lines = [
        SiteLine((f"function_{number}", "called_by", "main"), number << 20, Bounds(0, 1 << 30), 5.0)
        for number in range(1, 9)
    ]
    screen = Screen(7, "program", 1, None, None, (), (), None, (), lines)
    out = StringIO()
    make_console(out, width=width).print(drawn(screen, width))
    return out.getvalue()


@pytest.mark.parametrize("width", [45, 80, 120])
def test_the_sites_fit_the_width(width: int) -> None:
    lines = sites(width).splitlines()
    assert max(map(len, lines)) <= width
    assert sum("function_" in each for each in lines) == 8
    assert any("1.0 GiB" in each for each in lines) == (width >= 60)


def test_a_line_names_the_largest_sites() -> None:
    lines = [SiteLine((name, "main"), 1 << 20, None, None) for name in "abcd"]
    screen = Screen(7, "program", 1, None, None, (), (), None, (), lines)
    assert line(screen, "12:00:00") == "12:00:00  at a 1.0 MiB  at b 1.0 MiB  at c 1.0 MiB"
