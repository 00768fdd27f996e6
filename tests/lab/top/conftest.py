# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A program that keeps memory at a call site with a name."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

PROGRAM = """
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>
pid_t _Fork(void); // as a process that runs no handlers of pthread_atfork
__attribute__((noinline)) void* keep(void) { return malloc(1000); }
__attribute__((noinline)) void* waste(void) { return malloc(500); }
void* volatile last;
volatile sig_atomic_t caught;
void count(int number) { caught++; }
int main(int words, char** word) {
    for (;;) {
        for (int i = 0; i < 8000; i++) {
            last = keep();
            free(waste());
        }
        printf("%d\\n", (int)caught);
        fflush(stdout);
        switch (getchar()) {
        case 'd': signal(SIGUSR2, SIG_DFL); break;
        case 'o': signal(SIGUSR2, count); break;
        case 'f': if (chdir("inner") != 0) return 1; break;
        case 'q': if (_Fork() == 0) for (prctl(PR_SET_PDEATHSIG, SIGKILL);;) pause(); else break;
        case 'w': if (fork() == 0) for (prctl(PR_SET_PDEATHSIG, SIGKILL);;) pause(); else break;
        case 'e': execv(word[0], word); return 1;
        case EOF: return 0;
        }
    }
}
"""
KEPT = 8000 * 1000
TOP = (sys.executable, "-m", "heapwright", "top")


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("gcc") or pytest.skip("needs a C compiler (package gcc)")
    folder = tmp_path_factory.mktemp("sites")
    (folder / "sites.c").write_text(PROGRAM, encoding="utf-8")
    command = [compiler, "-g", "-O1", "-fno-builtin", "sites.c", "-o", "sites"]
    subprocess.run(command, cwd=folder, check=True)
    return folder / "sites"


@contextmanager
def running(
    program: Path, *launcher: str, cwd: Path | None = None, **settings: str
) -> Iterator["subprocess.Popen[str]"]:
    """The program after its first 8,000 blocks, with these additional environment variables."""
    with subprocess.Popen(
        [*launcher, str(program)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env={**os.environ, **settings},
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "0\n"
        try:
            yield process
        finally:
            process.kill()


def tell(process: "subprocess.Popen[str]", what: str) -> int:
    """Has the program do this and keep 8,000 more blocks; its own handler's calls so far."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(what)
    process.stdin.flush()
    return int(process.stdout.readline())


def by_site(pid: int) -> "subprocess.CompletedProcess[str]":
    command = [*TOP, "--once", "--by-site", str(pid)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def kib(amount: str, unit: str) -> float:
    return float(amount) * {"B": 1 / 1024, "KiB": 1, "MiB": 1024}[unit]
