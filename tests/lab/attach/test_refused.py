# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A process that cannot be recorded safely is refused with the reason, and is unchanged."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from .conftest import PROGRAMS, Start, compiled, recording, started

NOBODY = 65534


def refusal(pid: int, folder: Path) -> str:
    """What the verb says."""
    words = [sys.executable, "-m", "heapwright", "attach", "--seconds", "0.1"]
    words += ["-o", str(folder / "refused.trace"), str(pid)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert not (folder / "refused.trace").exists()
    return done.stderr


def test_a_seccomp_filter(worker: Start, tmp_path: Path) -> None:
    with worker("0", "seccomp") as target:
        assert "seccomp filter" in refusal(target.pid, tmp_path)
        target.assert_clean()
        target.assert_unharmed()


def test_a_static_program(tmp_path: Path) -> None:
    program = compiled(tmp_path, "static", "-static", source=PROGRAMS / "worker.c")
    with started(program, "0") as target:
        assert "static program" in refusal(target.pid, tmp_path)
        target.assert_unharmed()


def test_a_process_that_has_ended(tmp_path: Path) -> None:
    with subprocess.Popen(["true"]) as process:
        process.wait()
    assert f"there is no process {process.pid}" in refusal(process.pid, tmp_path)


def test_a_process_of_another_user(worker_program: Path, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        assert "user" in refusal(1, tmp_path)
        return
    for folder in (worker_program.parent, *worker_program.parent.parents):
        if folder.stat().st_uid == 0 and folder != Path("/tmp") and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o011)
    with started(worker_program, "0", user=NOBODY) as target:
        assert f"belongs to user {NOBODY}" in refusal(target.pid, tmp_path)
        target.assert_unharmed()


def test_a_stopped_process(worker: Start, tmp_path: Path) -> None:
    with worker("0") as target:
        target.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, target.pid, os.WSTOPPED | os.WNOWAIT)
        assert "it is stopped" in refusal(target.pid, tmp_path)
        target.process.send_signal(signal.SIGCONT)
        target.assert_unharmed()


def test_a_process_that_is_recorded_already(worker: Start, tmp_path: Path) -> None:
    with worker("0") as target:
        with recording(target.pid, tmp_path / "t.trace") as result:
            assert "recorded already" in refusal(target.pid, tmp_path)
        assert result["left"] == ""
        target.assert_clean()
        target.assert_unharmed()
