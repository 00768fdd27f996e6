# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Record programs of the distribution, and profile what they left.

The command runs under heapwright-record itself, so that a test can kill what it likes.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from heapwright.artefacts.profile.document import Profile
from heapwright.base import native
from heapwright.base.errors import HeapwrightError
from heapwright.profile.run import profile_trace

# What in the tester's environment could change what a program does.
FOREIGN = ("LD_", "PYTHON", "PERL", "NODE_", "MALLOC_", "GLIBC_", "HEAPWRIGHT_TRACE", "MEMUSAGE")
FULL_PATH = "/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"
TIMEOUT_S = 300


def needed(program: str, package: str) -> str:
    """The path of a program of the distribution, or a skip that names its package."""
    path = shutil.which(program, path=FULL_PATH)
    if path is None:
        pytest.skip(f"{program} is not installed (package {package})")
    return path


def plain_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(FOREIGN)}
    return kept | {"LC_ALL": "C.UTF-8", "TZ": "UTC"} | dict(extra or {})


def recorder_words(
    trace: Path, *options: str, result: int | None = None, behind: Path | None = None
) -> list[str]:
    """The command line that records what follows it; `behind` is preloaded behind the recorder."""
    try:
        program, library = native.program("record"), native.library("recorder")
    except HeapwrightError as error:
        pytest.skip(f"needs the compiled parts: {error}")
    preloaded = ":".join(str(each) for each in (library, behind) if each is not None)
    words = [str(program), "--trace", str(trace), "--preload", preloaded, *options]
    return [*words, *(["--result-fd", str(result)] if result is not None else []), "--"]


def record(
    command: Sequence[str | Path],
    trace: Path,
    *options: str,
    behind: Path | None = None,
    extra: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> dict[str, Any]:
    """Record to a good end; what heapwright-record says of it, and the command's `stderr`."""
    reading, writing = os.pipe()
    with os.fdopen(reading, encoding="utf-8") as report:
        try:
            done = subprocess.run(
                [
                    *recorder_words(trace, *options, result=writing, behind=behind),
                    *map(str, command),
                ],
                env=plain_environment(extra),
                cwd=cwd,
                capture_output=True,
                pass_fds=[writing],
                timeout=TIMEOUT_S,
                check=False,
            )
        finally:
            os.close(writing)
        said: dict[str, Any] = json.load(report)
    stderr = done.stderr.decode(errors="replace")
    assert done.returncode == 0, stderr
    assert (said["exit_status"], said["signal"], said["lost"]) == (0, 0, 0), stderr
    return said | {"stderr": stderr}


def profiled(trace: Path) -> Profile:
    """The profile of a whole trace: nothing of it was damaged."""
    profile = profile_trace(trace)
    assert not profile.provenance.faults
    return profile
