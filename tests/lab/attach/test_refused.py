# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A process that cannot be recorded safely is refused with the reason, and is unchanged."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from heapwright.base import native

from .conftest import PROGRAMS, Start, compiled, maps_of, recording, started

OTHER_USER = 65534


def refusal(pid: int, folder: Path) -> str:
    """What the verb says."""
    words = [sys.executable, "-m", "heapwright", "attach", "--seconds", "0.1"]
    words += ["-o", str(folder / "refused.trace"), str(pid)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert not (folder / "refused.trace").exists()
    return done.stderr


def let_pass(file: Path) -> None:
    """Lets other users reach the file."""
    for folder in file.parents:
        if folder.stat().st_uid == os.geteuid() and folder not in {Path("/tmp"), Path("/")}:
            folder.chmod(folder.stat().st_mode | 0o011)


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
    let_pass(worker_program)
    with started(worker_program, "0", user=OTHER_USER) as target:
        assert f"belongs to user {OTHER_USER}" in refusal(target.pid, tmp_path)
        target.assert_unharmed()


def test_a_process_that_may_not_open_the_trace(worker_program: Path, tmp_path: Path) -> None:
    """The recorder is loaded by then. Nothing of it is left when the thread that loaded it ends."""
    user = OTHER_USER if os.geteuid() == 0 else None
    let_pass(worker_program)
    tmp_path.chmod(0o777)
    let_pass(tmp_path)
    program = shutil.copy(native.program("attach"), tmp_path)
    library = shutil.copy(native.library("attached"), tmp_path)
    words = [program, "--trace", str(tmp_path / "t.trace"), "--library", library]
    with started(worker_program, "0", "leave", user=user) as target:
        descriptors = set(Path(f"/proc/{target.pid}/fd").iterdir())
        mappings = len(maps_of(target.pid))
        done = subprocess.run(
            [*words, str(target.pid)],
            capture_output=True,
            text=True,
            check=False,
            user=user,
            umask=0o777,
        )
        assert done.returncode == 3
        assert "it cannot open the trace for writing" in done.stderr
        assert not (tmp_path / "t.trace").exists()
        target.assert_clean()
        assert set(Path(f"/proc/{target.pid}/fd").iterdir()) == descriptors
        assert len(maps_of(target.pid)) <= mappings
        target.assert_unharmed()
        assert target.process.stdin is not None
        target.process.stdin.close()
        assert target.process.wait() == 0


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
