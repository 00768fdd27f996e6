# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A recorded service and a sidecar, which share processes alone.

The service has a mount namespace of its own with its program and its trace, like a container. So
the sidecar has no file of those paths.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from heapwright.base.native import NativeMissingError, native_dir
from support.running import ran

pytestmark = pytest.mark.programs

PROGRAM = """
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
__attribute__((noinline)) void handle_request(void) {
    char *volatile lost = malloc(100000);
    memset(lost, 1, 100000);
}
int main(void) {
    for (int i = 0; i < 60000; ++i) {
        handle_request();
        usleep(1000);
    }
    return 0;
}
"""
START = """
mount -t tmpfs none "$1" && cp "$2" "$1/server" &&
exec "$3"/bin/heapwright-record --stacks --trace "$1/trace" \
    --preload "$3"/lib/libheapwright-recorder.so -- "$1/server"
"""


@pytest.fixture
def service(tmp_path: Path) -> Iterator[int]:
    """The number of the service's process, which loses memory in `handle_request`."""
    for program, package in {"gcc": "gcc", "unshare": "util-linux"}.items():
        if shutil.which(program) is None:
            pytest.skip(f"no {program} (package {package})")
    try:
        native = native_dir()
    except NativeMissingError as missing:
        pytest.skip(str(missing))
    (tmp_path / "server.c").write_text(PROGRAM, encoding="utf-8")
    made = tmp_path / "compiled"
    done = ran(["gcc", "-g", "-O1", tmp_path / "server.c", "-o", made])
    assert done.returncode == 0, done.stderr
    (tmp_path / "app").mkdir()
    places = (tmp_path / "app", made, native)
    enter = ["unshare", "--map-root-user", "--mount", "bash", "-c", START, "start"]
    with subprocess.Popen([*enter, *places], stderr=subprocess.PIPE, text=True) as launcher:
        try:
            yield _started(launcher)
        finally:
            launcher.terminate()  # the recorder passes it on to the service


def _started(launcher: subprocess.Popen[str]) -> int:
    children = Path(f"/proc/{launcher.pid}/task/{launcher.pid}/children")
    for _ in range(600):
        if launcher.poll() is not None:
            pytest.skip(f"no mount namespace here: {launcher.communicate()[1]}")
        for child in children.read_text(encoding="utf-8").split():
            if Path(f"/proc/{child}/comm").read_text(encoding="utf-8") == "server\n":
                return int(child)
        time.sleep(0.1)
    raise AssertionError("the service did not start")


def explained(service: int, folder: Path) -> str:
    """The sidecar's answer."""
    state = {"XDG_STATE_HOME": str(folder / "state")}
    command = [sys.executable, "-m", "heapwright", "explain", "-q", "--pid", str(service)]
    done = ran(command, cwd=folder, env={**os.environ, **state})
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_sidecar_explains_a_service(service: int, tmp_path: Path) -> None:
    time.sleep(2)  # it loses memory meanwhile
    assert [*(tmp_path / "app").iterdir()] == [], "the service's files are in its namespace"
    answer = explained(service, tmp_path)
    assert answer.startswith("Leak: no pointer leads to ")
    assert "all of it comes from handle_request" in answer
