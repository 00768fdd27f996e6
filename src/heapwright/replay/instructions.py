# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Counts the instructions of one replay, under callgrind. The count does not depend on the load.

The count is that of the whole process in user mode. The replayer's own part is the same under each
allocator. The kernel's work for page faults and system calls is not in it.
"""

import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from heapwright.artefacts.run.replay import TOUCH, ReplayLine
from heapwright.base import native
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.base.scratch import Scratch
from heapwright.replay.prepare import PROGRAM, run_options

VALGRIND = "valgrind"
SLOWDOWN = 50
"""About: the time of a count in times of the replay."""


def can_count() -> bool:
    """Whether valgrind is here (package valgrind)."""
    return shutil.which(VALGRIND) is not None


def count_instructions(plan: Path, environment: Mapping[str, str], limit_s: float) -> int:
    """The instructions of one replay under the allocator that the environment preloads.

    Raises HeapwrightError where the replay does not come to its end, or not within the limit.
    """
    with Scratch() as folder:
        counts = folder / "counts"
        command = [VALGRIND, "-q", "--tool=callgrind", f"--callgrind-out-file={counts}"]
        command += [str(native.program(PROGRAM)), *run_options(plan, touch=TOUCH, checked=False)]
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                env=dict(environment),
                timeout=limit_s,
                text=True,
                errors="replace",
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise _refusal(f"not over in {limit_s:.0f} s") from error
        except OSError as error:
            raise _refusal(f"{VALGRIND}: {error.strerror or error}") from error
        if done.returncode:
            said = [line for line in done.stderr.splitlines() if line.strip()]
            raise _refusal(said[-1] if said else f"status {done.returncode}")
        text = counts.read_text(encoding="utf-8", errors="replace") if counts.exists() else ""
    _refuse_failed_calls(done.stdout)
    found = re.search(r"^totals: (\d+)", text, re.MULTILINE)
    if found is None:
        raise _refusal("callgrind wrote no total")
    return int(found[1])


def _refuse_failed_calls(line: str) -> None:
    """valgrind gives a process at most 8 MiB by sbrk, so a heap on sbrk alone can run out."""
    try:
        failed = ReplayLine.model_validate_json(line).failed_calls
    except ValidationError as error:
        raise _refusal("the replay printed no figures") from error
    if failed:
        raise _refusal(f"{failed} calls got no memory under {VALGRIND}")


def _refusal(why: str) -> HeapwrightError:
    return HeapwrightError(
        f"the instructions of the replay were not counted: {why}",
        exit_code=ExitCode.NOTHING_COMPARED,
    )
