# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that take minutes: run in a process group of their own, which ends with this process.

No process of the group remains after the wait, however it ends (done, too late, Ctrl-C).
"""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

GRACE_S = 5.0


@contextmanager
def running(
    command: Sequence[str | Path],
    log: Path,
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """A process whose output goes to `log`; at the end its whole group is gone."""
    with log.open("ab") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env=environment,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        _end_group(process)


def _end_group(process: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_S)
            return


def last_lines(path: Path, count: int) -> list[str]:
    """The end of a log, without what a terminal would not print."""
    try:
        text = path.read_bytes()[-(1 << 16) :].decode("utf-8", "replace")
    except OSError:
        return []
    lines = ("".join(each for each in line if each.isprintable()) for line in text.splitlines())
    return [line.rstrip() for line in lines if line.strip()][-count:]
