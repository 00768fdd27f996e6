# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The replayer's own work for each call stays below its limit."""

import json
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "replay_cost.py"


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="no valgrind (package valgrind)")
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the limit is for x86-64")
@pytest.mark.parametrize("case", ["malloc and free", "streamed"])
def test_a_call_costs_at_most_forty_instructions(
    case: str, needs_programs: Callable[..., None]
) -> None:
    needs_programs("replay", "trace")
    command = [sys.executable, str(SCRIPT), "--json", "--case", case]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode in {0, 1}, done.stderr
    (found,) = json.loads(done.stdout).values()
    assert 10 < found <= 40  # one that does nothing would prove nothing
