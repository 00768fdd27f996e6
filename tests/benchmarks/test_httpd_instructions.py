# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A request to httpd needs no more than 3 % more instructions with pools as reaps."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from heapwright.base.native import NativeMissingError, library

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "httpd" / "instructions.py"


@pytest.mark.slow
@pytest.mark.parametrize("page", ["a file", "a listing"])
def test_a_request_costs_what_it_does_with_stock_pools(page: str) -> None:
    try:
        library("apr")
    except NativeMissingError as error:
        pytest.skip(f"{error.message} (built where libapr1-dev is)")
    words = ["--json", "--page", page, "--pools", "stock", "--pools", "reap"]
    command = [sys.executable, str(SCRIPT), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=1200)
    if done.returncode == 2:
        pytest.skip(done.stderr.splitlines()[-1])
    assert done.returncode == 0, done.stdout + done.stderr
    (row,) = json.loads(done.stdout).values()
    assert row["stock"] > 10_000  # one that does nothing would prove nothing
    assert row["reap"] <= 1.03 * row["stock"]
