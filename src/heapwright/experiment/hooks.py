# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Commands around runs, as the user would run them: without a preload, and not measured.

A hook is a line for the shell, or the words of a command. A failing hook ends the experiment,
because the conditions for later runs are not met.
"""

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from heapwright.base.errors import HeapwrightError

SHELL = "/bin/sh"
LAST_BYTES = 4096


def run_hook(
    name: str, hook: str | Sequence[str], environment: Mapping[str, str], cwd: Path
) -> None:
    """Run it to its end. If it fails, raises HeapwrightError with the end of its output."""
    words = [SHELL, "-c", hook] if isinstance(hook, str) else list(hook)
    with tempfile.TemporaryFile() as output:
        try:
            done = subprocess.run(
                words,
                cwd=cwd,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                check=False,
            )
        except OSError as error:
            raise HeapwrightError(
                f"{name}: {words[0]} cannot be run: {error.strerror or error}",
                "what was measured before is kept",
            ) from error
        if done.returncode == 0:
            return
        output.seek(max(output.tell() - LAST_BYTES, 0))
        lines = output.read().decode(errors="replace").split("\n")
    said = next((line.strip() for line in reversed(lines) if line.strip()), "")
    raise HeapwrightError(
        f"{name} ended with status {done.returncode}{': ' + said if said else ''}",
        "what was measured before is kept",
    )
