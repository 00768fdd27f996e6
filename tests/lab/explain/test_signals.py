# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A server that is ended by a signal is searched for unreachable blocks before it ends."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from heapwright.artefacts.explanation.document import Ending, Explanation
from heapwright.artefacts.profile.document import Profile
from heapwright.base import native
from heapwright.base.errors import HeapwrightError

SERVER = """
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(void) {
    struct sigaction seen;
    for (int i = 0; i < 2000; i++) memset(malloc(1000), 1, 1000);
    sigaction(SIGTERM, 0, &seen);
    printf("%d %s\\n", getpid(), seen.sa_handler == SIG_DFL ? "default" : "other");
    fflush(stdout);
    for (;;) pause();
}
"""


@pytest.fixture(autouse=True)
def _compiled() -> None:
    try:
        for name in ("record", "profile", "trace", "leakscan"):
            native.program(name)
    except HeapwrightError as error:
        pytest.skip(f"needs the compiled parts: {error}")


@pytest.fixture
def server(tmp_path: Path) -> Path:
    source, program = tmp_path / "server.c", tmp_path / "server"
    source.write_text(SERVER)
    command = ["cc", "-O1", "-fno-builtin", str(source), "-o", str(program)]
    if subprocess.run(command, check=False).returncode:
        pytest.skip("cc does not work here")
    return program


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_search_comes_before_the_end(
    server: Path, tmp_path: Path, number: signal.Signals
) -> None:
    document = tmp_path / "explanation.json"
    words = [sys.executable, "-m", "heapwright", "explain", "-q", "--json", str(document)]
    with subprocess.Popen([*words, "--", str(server)], stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        pid, disposition = run.stdout.readline().split()
        os.kill(int(pid), number)
        run.communicate(timeout=100)
    assert disposition == "default", "the program does not see the handler"
    found = Explanation.from_json(document.read_bytes())
    assert found.ending is Ending.KILLED
    assert found.reachability is not None
    assert found.reachability.unreachable_blocks >= 1990


def test_pages_of_the_recorder_are_not_the_programs(server: Path, tmp_path: Path) -> None:
    document = tmp_path / "profile.json"
    words = [sys.executable, "-m", "heapwright", "profile", "-q", "--stacks"]
    with subprocess.Popen(
        [*words, "--json", str(document), "--", str(server)], stdout=subprocess.PIPE, text=True
    ) as run:
        assert run.stdout is not None
        os.kill(int(run.stdout.readline().split()[0]), signal.SIGTERM)
        run.communicate(timeout=100)
    system = Profile.from_json(document.read_bytes()).system
    assert system is not None
    last = system.samples[-1]
    assert last.recorder_bytes is not None
    assert last.recorder_bytes > 1 << 20
    assert last.other_bytes is not None
    assert last.other_bytes < 4 << 20
