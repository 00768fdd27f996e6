# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The calculator, as it is installed."""

import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest

from heapwright.base.native import program

Calculator = Callable[..., "Said"]


@dataclass(frozen=True)
class Said:
    """What came of a text."""

    out: str
    err: str
    status: int


@pytest.fixture(scope="session")
def calculator(needs_programs: Callable[..., None]) -> Calculator:
    """Runs a text through heapwright-calculator with some options."""
    needs_programs("calculator")

    def run(text: str, options: Sequence[str] = ()) -> Said:
        command = [program("calculator"), *options]
        done = subprocess.run(
            command, input=text.encode(), capture_output=True, check=False, timeout=300
        )
        return Said(done.stdout.decode(), done.stderr.decode(), done.returncode)

    return run
