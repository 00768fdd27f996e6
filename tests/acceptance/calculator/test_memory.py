# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What the calculator allocates and frees, from each kind of memory. Nothing is lost when there is
no memory, at any point of its work.
"""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from .conftest import Calculator

ROOT = Path(__file__).parents[3]
PRIMES = str(ROOT / "catalogue" / "studies" / "programs" / "primes.bc")
TEXT = """
define f(n, v[]) {
    auto i, s[]
    for (i = 0; i < 12; i++) { v[i % 5] += n ^ i / 3; s[i] = v[i % 5]-- }
    if (n > 0) return (f(n - 1, v[]) + sqrt(s[3]))
    return (-s[2] % 7)
}
scale = 30
w[3] = 1.5
print "it is ", f(3, w[]), "\\n"
x = 10^50 / 7; x *= x; x; length(x) && !scale(x) || ++w[3] > last
1 + (2
1/0
"""


def account(calculator: Calculator, *options: str) -> dict[str, Any]:
    said = calculator("", [*options, "--account", PRIMES])
    prime, told = said.out.splitlines()
    assert prime == "7919"
    answer: dict[str, Any] = json.loads(told)
    return answer


@pytest.mark.parametrize("memory", ["malloc", "reap"])
def test_single_frees_save_most_of_the_memory(calculator: Calculator, memory: str) -> None:
    freed = account(calculator, "--memory", memory)
    kept = account(calculator, "--memory", memory, "--keep")
    assert freed["single_frees"] is True
    assert freed["releases"] == freed["allocations"] == kept["allocations"]
    assert kept["single_frees"] is False
    assert kept["releases"] == 0
    assert kept["memory_grown"] >= 10 * max(freed["memory_grown"], 4096)


def test_a_region_frees_nothing_before_its_end(calculator: Calculator) -> None:
    told = account(calculator, "--memory", "region")
    assert told["single_frees"] is False
    assert told["memory_grown"] > told["requested_bytes"] > 1_000_000


def test_a_failed_allocation_leaks_nothing(tmp_path: Path) -> None:
    """Under the address and undefined-behaviour sanitizers, each allocation fails once."""
    gcc = shutil.which("gcc") or pytest.skip("no C compiler (package gcc)")
    parts = sorted((ROOT / "apps" / "calculator").glob("*.c"))
    apart = {"main.c", "own_memory.c", "apr_memory.c", "mod_calculator.c", "growth.c"}
    sources = [part for part in parts if part.name not in apart]
    assert len(sources) > 8
    driver = Path(__file__).parent / "programs" / "failing_pool.c"
    flags = [
        "-std=c11",
        "-O1",
        "-g",
        "-Wall",
        "-Wextra",
        "-Werror",
        f"-I{ROOT / 'apps' / 'calculator'}",
    ]
    sanitizers = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    target = tmp_path / "failing"
    subprocess.run([gcc, *flags, *sanitizers, driver, *sources, "-o", target], check=True)
    done = subprocess.run(
        [target], input=TEXT, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    # What could not be defined is missing later on, and the last two lines are wrong anyway.
    other = ("syntax error", "outside of a function", "not defined", "divide by zero")
    wrong = [line for line in lines[:-1] if not line.endswith(other)]
    assert not wrong, wrong[:5]
    assert int(lines[-1].split()[0]) > 300
